/** The lines of the log of a chat: they would disturb what the terminal shows, so the chat shows them itself. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** See the header. */
export class Notices {
  private write: (line: string) => void
  private readonly fallback: (line: string) => void

  /** @param fallback writes a line while no chat shows it */
  constructor(fallback: (line: string) => void) {
    this.write = fallback
    this.fallback = fallback
  }

  /** Writes one line. */
  readonly line = (line: string): void => this.write(line)

  /** Gives the lines to the chat until the scope closes. */
  forward(write: (line: string) => void): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.sync(() => void (this.write = write)),
      () => Effect.sync(() => void (this.write = this.fallback)),
    )
  }
}
