/** A stand-in for the user's configuration file. */
import type { UserSavedConfig } from "@colloquy/protocol/app/Host"
import * as Effect from "effect/Effect"
import {
  type DefaultModel,
  UserConfig,
  UserConfigFailed,
} from "../../src/app/ports/UserConfigPort.ts"

export const savedConfig = (saved: UserSavedConfig, failing?: UserConfigFailed["step"]) => {
  const written: Array<DefaultModel> = []
  const failed = (step: UserConfigFailed["step"]) =>
    failing === step
      ? Effect.fail(new UserConfigFailed({ step, message: "config.toml:3: what is this?" }))
      : Effect.void
  const config = UserConfig.of({
    saved: Effect.as(Effect.andThen(failed("load"), failed("parse")), saved),
    setDefaultModel: (choice) =>
      Effect.map(failed("write"), () => {
        written.push(choice)
      }),
  })
  return { config, written }
}

export const profile = {
  model: null,
  modelProvider: null,
  approvalPolicy: null,
  modelReasoningEffort: null,
  modelReasoningSummary: null,
  modelVerbosity: null,
  chatgptBaseUrl: null,
} as const
