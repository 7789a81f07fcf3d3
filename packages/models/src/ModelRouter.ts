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
  Effect.map(Effect.cached(http), (cached) => {
    const offline = OfflineModel.make(options)
    let known: Client | undefined
    // Run once: a cached effect starts anew when its only caller is interrupted.
    const loaded = Effect.map(Effect.uninterruptible(cached), (client) => {
      known = client
      return client
    })
    return {
      stream: (request) => {
        if (request.provider.wire === "offline") return offline.stream(request)
        return known === undefined
          ? Stream.unwrap(Effect.map(loaded, (client) => client.stream(request)))
          : known.stream(request)
      },
    }
  })
