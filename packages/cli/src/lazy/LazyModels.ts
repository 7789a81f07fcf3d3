/**
 * Loads the models at the first turn, and the HTTP client at the first turn of an HTTP provider, because the response to
 * `initialize` needs neither and the client waits for it.
 */
import { ModelClient } from "@colloquy/core/ModelClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { FindKey } from "@colloquy/models/HttpModel"
import type { OfflineModelOptions } from "@colloquy/models/OfflineModel"
import * as LazyService from "./LazyService.ts"
import { MachineAuth } from "./LazyAuth.ts"

/** The options of the offline model and of HTTP providers. */
export interface LazyModelsOptions extends OfflineModelOptions {
  /** Header `User-Agent` of requests to providers. */
  readonly userAgent: string
}

type Client = Context.Service.Shape<typeof ModelClient>

const http = (scope: Scope.Scope, findKey: FindKey, userAgent: string): Effect.Effect<Client> =>
  Effect.promise(() => import("../machine/HttpModels.ts")).pipe(
    Effect.flatMap((module) => Layer.buildWithScope(module.layer({ findKey, userAgent }), scope)),
    Effect.map((services) => Context.get(services, ModelClient)),
  )

/** Provides the models. Keys that are not in the environment come from `MachineAuth`. */
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
      )
      // Loaded once: a cached effect starts anew when its only caller is interrupted.
      const client = Effect.uninterruptible(yield* Effect.cached(router))
      return LazyService.forward(client, { stream: "stream" })
    }),
  )
