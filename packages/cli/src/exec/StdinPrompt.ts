/** The standard input of `exec`: what it is, and everything that it holds. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { fstatSync } from "node:fs"
import { ExecFailed } from "./ExecFailed.ts"

/** Where input comes from. A socket is what a program opens for the programs that it starts, and often leaves open. */
export type InputKind = "none" | "file" | "pipe" | "socket"

/** The input, as `promptOf` uses it. */
export interface PromptInput {
  readonly kind: InputKind
  /** Resolves when the first byte, or the end, has come. Meaningful while `read` runs. */
  readonly begun: Effect.Effect<void>
  /** Everything up to the end. */
  readonly read: Effect.Effect<Uint8Array, ExecFailed>
}

/** A terminal and `/dev/null` hold no prompt. */
const kindOf = (): InputKind => {
  try {
    const stat = fstatSync(0)
    return stat.isFIFO() ? "pipe" : stat.isSocket() ? "socket" : stat.isFile() ? "file" : "none"
  } catch {
    return "none"
  }
}

/** The input of this process. */
export const stdinPrompt = (): PromptInput => {
  const begun = Latch.makeUnsafe(false)
  const read = Effect.callback<Uint8Array, ExecFailed>((resume) => {
    const { stdin } = process
    const pieces: Array<Buffer> = []
    stdin.on("data", (piece: Buffer) => {
      pieces.push(piece)
      begun.openUnsafe()
    })
    stdin.once("end", () => {
      begun.openUnsafe()
      resume(Effect.succeed(Buffer.concat(pieces)))
    })
    stdin.once("error", (error) => {
      begun.openUnsafe()
      resume(
        Effect.fail(
          new ExecFailed({ message: `Failed to read prompt from stdin: ${error.message}` }),
        ),
      )
    })
    // What is left open would keep the process alive.
    return Effect.sync(() => void stdin.destroy())
  })
  return { kind: kindOf(), begun: begun.await, read }
}
