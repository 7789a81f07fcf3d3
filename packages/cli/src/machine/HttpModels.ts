/** The models over the network, on Node's own HTTP client. Loaded on demand, see `LazyModels`. */
import type { ModelClient } from "@colloquy/core/ModelClient"
import * as HttpModel from "@colloquy/models/HttpModel"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Layer from "effect/Layer"

/**
 * How long a connection is kept for the next request, which then needs no handshake. Shorter than what networks give an
 * unused connection before they drop it without a word. Says nothing about one in use.
 */
const maxUnusedMs = 30_000

/**
 * `node:http`, because it sets no time limits of its own: `fetch` ends a body after 300 s without a byte, whatever
 * `stream_idle_timeout_ms` allows (mcp-complaints row 6).
 */
export const layer = (options: HttpModel.HttpModelOptions): Layer.Layer<ModelClient> =>
  Layer.provide(
    HttpModel.layer(options),
    NodeHttpClient.layerNodeHttpOptions({ keepAlive: true, timeout: maxUnusedMs }),
  )
