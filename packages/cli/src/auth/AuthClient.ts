/** Node's HTTP client for the issuer. Loaded on demand, see `LazyAuth`. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"

export const layer = NodeHttpClient.layerNodeHttp
