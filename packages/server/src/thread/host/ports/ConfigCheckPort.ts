/** Port: whether the configuration has faults that do no harm. By itself, because every start of a thread asks. The default has none. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { ConfigFailed } from "./ConfigPort.ts"

/** The checks of a configuration. */
export interface ConfigCheck {
  /** The faults of the configuration as it is now, such as unknown keys, for a person; undefined if there are none. */
  readonly warning: Effect.Effect<string | undefined, ConfigFailed>
}

/** Finds nothing. */
export const noCheck: ConfigCheck = { warning: Effect.undefined }

/** The check of the configuration that clients read and edit. */
export const ConfigCheckPort = Context.Reference<ConfigCheck>(
  "@colloquy/server/thread/host/ConfigCheckPort",
  { defaultValue: () => noCheck },
)
