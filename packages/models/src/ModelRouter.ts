/**
 * Sends each request to the half its provider names: offline, or HTTP. The HTTP half is an effect that runs when the
 * first request needs it, so that a program that never leaves the machine never loads it.
 */
import { ModelClient } from "@colloquy/core/ModelClient"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as OfflineModel from "./OfflineModel.ts"

type Client = Context.Service.Shape<typeof ModelClient>

/** @param http made at most once, at the first request over HTTP */
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
          : Stream.unwrap(Effect.map(loaded, (client) => client.stream(request))),
    }
  })
