/**
 * The lines of the log of a chat: they would disturb what the terminal shows, so the chat shows them itself. Lines that come
 * faster than the chat shows them are left out, and counted in a line of their own.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** See the header. */
export class Notices {
  private write: (line: string) => boolean
  private leftOut = 0
  private readonly fallback: (line: string) => boolean

  /** @param fallback writes a line while no chat shows it */
  constructor(fallback: (line: string) => void) {
    this.fallback = (line) => {
      fallback(line)
      return true
    }
    this.write = this.fallback
  }

  /** Writes one line. */
  readonly line = (line: string): void => {
    this.countLeftOut()
    if (this.leftOut > 0 || !this.write(line)) this.leftOut++
  }

  /** Gives the lines to the chat until the scope closes. `write` returns false when it has no room for the line. */
  forward(write: (line: string) => boolean): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.sync(() => void (this.write = write)),
      () =>
        Effect.sync(() => {
          this.write = this.fallback
          this.countLeftOut()
        }),
    )
  }

  private countLeftOut(): void {
    if (this.leftOut > 0 && this.write(`${this.leftOut} lines of the log are left out`)) {
      this.leftOut = 0
    }
  }
}
