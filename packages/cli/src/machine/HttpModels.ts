/** The models of HTTP providers, with connections of `node:http`. Loaded on first use by `LazyModels`. */
import { ModelClient } from "@colloquy/core/ModelClient"
import * as HttpModel from "@colloquy/models/HttpModel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NodeHttp from "./NodeHttp.ts"

/** Layer of the models of HTTP providers. Its connections end with it. */
export const layer = (options: HttpModel.HttpModelOptions): Layer.Layer<ModelClient> =>
  Layer.effect(
    ModelClient,
    Effect.flatMap(NodeHttp.make, (http) => HttpModel.makeWith(http, options)),
  )
