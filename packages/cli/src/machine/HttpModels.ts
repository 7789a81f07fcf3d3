/** The models of HTTP providers, with Node's HTTP client. Loaded on first use by `LazyModels`. */
import type { ModelClient } from "@colloquy/core/ModelClient"
import * as HttpModel from "@colloquy/models/HttpModel"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Layer from "effect/Layer"

/**
 * How long an unused connection is kept open for the next request, which then needs no handshake. Shorter than the time
 * after which networks silently drop unused connections. Does not limit connections in use.
 */
const maxUnusedMs = 30_000

/**
 * Uses `node:http` because it has no time limits: `fetch` aborts a response body after 300 s without a byte, even if
 * `stream_idle_timeout_ms` allows more.
 */
export const layer = (options: HttpModel.HttpModelOptions): Layer.Layer<ModelClient> =>
  Layer.provide(
    HttpModel.layer(options),
    NodeHttpClient.layerNodeHttpOptions({ keepAlive: true, timeout: maxUnusedMs }),
  )
