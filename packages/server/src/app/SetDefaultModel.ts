/** `setDefaultModel` (§3.11). */
import { present } from "@colloquy/protocol/app/Fields"
import type { SetDefaultModel } from "@colloquy/protocol/app/Host"
import * as Effect from "effect/Effect"
import type { AppHandler } from "./AppCall.ts"
import { internal } from "./AppErrors.ts"
import { UserConfig } from "./UserConfigPort.ts"

export const setDefaultModel: AppHandler<typeof SetDefaultModel> = Effect.fnUntraced(
  function* (params) {
    const { model, reasoningEffort } = present(params)
    const config = yield* UserConfig
    yield* Effect.mapError(config.setDefaultModel({ model, reasoningEffort }), ({ message }) =>
      internal(`failed to persist overrides: ${message}`),
    )
    return {}
  },
)
