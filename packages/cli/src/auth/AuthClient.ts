/** The HTTP client for requests to the issuer. Loaded on first use by `LazyAuth`. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"

/** Node's HTTP client. */
export const layer = NodeHttpClient.layerNodeHttp
