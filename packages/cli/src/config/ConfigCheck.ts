/** Checks the configuration for keys without effect, for clients of app-server v2. Implements `ConfigCheckPort`. */
import type * as ConfigTree from "@colloquy/config/ConfigTree"
import { ConfigCheckPort } from "@colloquy/server/thread/host/ports/ConfigCheckPort"
import { ConfigFailed } from "@colloquy/server/thread/host/ports/ConfigPort"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { LiveSettings } from "./LiveSettings.ts"
import { warningsOf } from "./UnknownKeys.ts"

/**
 * @param live the current file
 * @param overrides the keys that the command line sets
 */
export const layer = (
  live: Pick<LiveSettings, "file">,
  overrides: ReadonlyArray<ConfigTree.Override>,
): Layer.Layer<never> => {
  const given = overrides.filter(({ flag }) => flag === undefined)
  const file = Effect.mapError(
    live.file,
    ({ message }) => new ConfigFailed({ reason: "unavailable", message: message.trim() }),
  )
  const lines = Effect.flatMap(file, (now) => warningsOf(now, given))
  return Layer.succeed(ConfigCheckPort, {
    warning: Effect.map(lines, (all) =>
      all.length === 0
        ? undefined
        : ["The configuration has keys without effect:", ...all.map((one) => `  ${one}`)].join(
            "\n",
          ),
    ),
  })
}
