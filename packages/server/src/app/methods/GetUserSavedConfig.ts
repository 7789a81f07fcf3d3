/** `getUserSavedConfig` (§3.11). */
import type { GetUserSavedConfig } from "@colloquy/protocol/app/Host"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { cannotReadConfig } from "../AppErrors.ts"
import { UserConfig } from "../ports/UserConfigPort.ts"

export const getUserSavedConfig: AppHandler<typeof GetUserSavedConfig> = Effect.fnUntraced(
  function* () {
    const { saved } = yield* UserConfig
    return { config: yield* Effect.mapError(saved, cannotReadConfig) }
  },
)
