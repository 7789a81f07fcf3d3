/**
 * All models: the offline model and both HTTP wires behind one port, chosen by
 * `request.provider.wire`.
 */
import { ModelClient } from "@colloquy/core/ModelClient"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as HttpModel from "./HttpModel.ts"
import * as ModelRouter from "./ModelRouter.ts"
import type { OfflineModelOptions } from "./OfflineModel.ts"

/** Options of the offline model and of the HTTP client. */
export type ModelsOptions = OfflineModelOptions & HttpModel.HttpModelOptions

/**
 * Layer of all models. Without options the offline model answers by its rules. A program that wants
 * to load the HTTP client late uses `ModelRouter` and imports `HttpModel` itself.
 */
export const layer = (
  options?: ModelsOptions,
): Layer.Layer<ModelClient, never, HttpClient.HttpClient> =>
  Layer.effect(
    ModelClient,
    Effect.gen(function* () {
      const http = HttpModel.make(yield* HttpClient.HttpClient, options)
      const scope = yield* Effect.scope
      return yield* ModelRouter.make(Effect.provideService(http, Scope.Scope, scope), options)
    }),
  )
