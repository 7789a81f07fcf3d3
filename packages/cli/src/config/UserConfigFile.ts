/** Implements the port `UserConfig` with `config.toml` of the state directory. */
import { Config, decode } from "@colloquy/config/ConfigSchema"
import { UserConfig, UserConfigFailed } from "@colloquy/server/app/ports/UserConfigPort"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { lineOf } from "./ConfigLines.ts"
import * as ConfigWriter from "./ConfigWriter.ts"
import type { LiveSettings } from "./LiveSettings.ts"
import { savedConfig } from "./SavedConfig.ts"

type Step = UserConfigFailed["step"]

const failed =
  (step: Step) =>
  ({ message }: { readonly message: string }) =>
    new UserConfigFailed({ step, message: message.trim() })

/** @param live the current file, and the active profile after the `-c` arguments */
export const layer = (stateDirectory: string, live: LiveSettings): Layer.Layer<UserConfig> => {
  const read = Effect.gen(function* () {
    const file = yield* Effect.mapError(live.file, failed("load"))
    const config = yield* Effect.mapError(Effect.fromResult(decode(Config, file.tree)), (fault) => {
      const line = fault.key === undefined ? undefined : lineOf(file.text, fault.key)
      const at = line === undefined ? file.path : `${file.path}:${line}`
      return failed("parse")({ message: `${at}: ${fault.message}` })
    })
    return config
  })
  const profile = Effect.map(Effect.mapError(live.tree, failed("load")), (tree) => {
    const name = tree["profile"]
    return typeof name === "string" ? ["profiles", name] : []
  })
  return Layer.succeed(
    UserConfig,
    UserConfig.of({
      saved: Effect.map(read, savedConfig),
      setDefaultModel: ({ model, reasoningEffort }) =>
        Effect.flatMap(profile, (table) =>
          Effect.mapError(
            ConfigWriter.write(stateDirectory, [
              { path: [...table, "model"], value: model },
              { path: [...table, "model_reasoning_effort"], value: reasoningEffort },
            ]),
            failed("write"),
          ),
        ),
    }),
  )
}
