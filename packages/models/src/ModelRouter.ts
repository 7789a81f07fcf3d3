/**
 * Sends each request to the client that its provider requires: offline, or HTTP. The HTTP client is
 * an effect that runs at the first request over HTTP, so that a program that uses the offline model
 * only never loads it.
 */
import { ModelClient } from "@colloquy/core/ModelClient"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as OfflineModel from "./OfflineModel.ts"

type Client = Context.Service.Shape<typeof ModelClient>

/**
 * A model client that chooses by `request.provider.wire`.
 *
 * @param http runs at most once, at the first request over HTTP
 */
export const make = (
  http: Effect.Effect<Client>,
  options?: OfflineModel.OfflineModelOptions,
): Effect.Effect<Client> =>
  Effect.map(Effect.cached(http), (loaded) => {
    const offline = OfflineModel.make(options)
    return {
      stream: (request) =>
        request.provider.wire === "offline"
          ? offline.stream(request)
          : // Run once: a cached effect starts anew when its only caller is interrupted.
            Stream.unwrap(
              Effect.map(Effect.uninterruptible(loaded), (client) => client.stream(request)),
            ),
    }
  })
