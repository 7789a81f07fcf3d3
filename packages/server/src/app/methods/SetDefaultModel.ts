/** `setDefaultModel`: saves the model of new conversations in config.toml. */
import { present } from "@colloquy/protocol/app/Fields"
import type { SetDefaultModel } from "@colloquy/protocol/app/Host"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { internal, invalidRequest } from "../AppErrors.ts"
import { UserConfig } from "../ports/UserConfigPort.ts"

/** Handler of the method. */
export const setDefaultModel: AppHandler<typeof SetDefaultModel> = Effect.fnUntraced(
  function* (params) {
    const { model, reasoningEffort } = present(params)
    // A saved empty name would keep the next process from starting.
    if (model?.trim() === "") {
      return yield* invalidRequest("params.model: expected a name that is not empty")
    }
    const config = yield* UserConfig
    yield* Effect.mapError(config.setDefaultModel({ model, reasoningEffort }), ({ message }) =>
      internal(`failed to persist overrides: ${message}`),
    )
    return {}
  },
)
