/** The faults of the configuration that do no harm, as one connection is warned of them: of the same ones once. */
import type { Params } from "@colloquy/protocol/Method"
import type { ConfigWarning } from "@colloquy/protocol/thread/Notifications"
import * as Effect from "effect/Effect"
import { ConfigCheckPort } from "./ports/ConfigCheckPort.ts"

/** See the header. */
export class ConfigWarnings {
  private summary: string | undefined

  /** The warning about the configuration as it is now; undefined if there is none, or if the client knows it. */
  readonly next: Effect.Effect<Params<typeof ConfigWarning> | undefined> = Effect.gen(
    { self: this },
    function* () {
      const known = this.summary
      const port = yield* ConfigCheckPort
      this.summary = yield* port.warning
      return this.summary === undefined || this.summary === known
        ? undefined
        : { summary: this.summary, details: null }
    },
  ).pipe(
    // Whoever needs the configuration reports that it cannot be read.
    Effect.catch(({ message }) =>
      Effect.as(Effect.logDebug(`the configuration was not checked: ${message}`), undefined),
    ),
  )
}
