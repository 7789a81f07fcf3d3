/**
 * The models, loaded when the first turn asks for one, and HTTP when the first turn asks a provider that speaks it:
 * a client waits for the answer to `initialize`, and needs neither for it (effect4-notes §12).
 */
import { ModelClient } from "@colloquy/core/ModelClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { FindKey } from "@colloquy/models/HttpModel"
import type { OfflineModelOptions } from "@colloquy/models/OfflineModel"
import { MachineAuth } from "./LazyAuth.ts"

export interface LazyModelsOptions extends OfflineModelOptions {
  /** `User-Agent` towards providers. */
  readonly userAgent: string
}

type Client = Context.Service.Shape<typeof ModelClient>

const http = (scope: Scope.Scope, findKey: FindKey, userAgent: string): Effect.Effect<Client> =>
  Effect.promise(() => import("../machine/HttpModels.ts")).pipe(
    Effect.flatMap((module) => Layer.buildWithScope(module.layer({ findKey, userAgent }), scope)),
    Effect.map((services) => Context.get(services, ModelClient)),
    // Loaded once, whoever gives up waiting for it.
    Effect.uninterruptible,
  )

/** Keys that are not in the environment are those of `MachineAuth`. */
export const layer = (options: LazyModelsOptions): Layer.Layer<ModelClient, never, MachineAuth> =>
  Layer.effect(
    ModelClient,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const auth = yield* MachineAuth
      const findKey: FindKey = (provider) =>
        Effect.flatMap(auth.get, (loaded) => loaded.findKey(provider))
      const router = Effect.promise(() => import("@colloquy/models/ModelRouter")).pipe(
        Effect.flatMap((module) => module.make(http(scope, findKey, options.userAgent), options)),
        Effect.uninterruptible,
      )
      const client = yield* Effect.cached(router)
      return {
        stream: (request) => Stream.unwrap(Effect.map(client, (loaded) => loaded.stream(request))),
      }
    }),
  )
