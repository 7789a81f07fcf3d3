/** `getUserSavedConfig`: what config.toml contains, as far as clients know it. */
import type { GetUserSavedConfig } from "@colloquy/protocol/app/Host"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { cannotReadConfig } from "../AppErrors.ts"
import { UserConfig } from "../ports/UserConfigPort.ts"

/** Handler of the method. */
export const getUserSavedConfig: AppHandler<typeof GetUserSavedConfig> = Effect.fnUntraced(
  function* () {
    const { saved } = yield* UserConfig
    return { config: yield* Effect.mapError(saved, cannotReadConfig) }
  },
)
