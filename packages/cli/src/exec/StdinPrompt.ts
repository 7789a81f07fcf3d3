/** The standard input of `exec`: what it is, and everything that it holds. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { fstatSync, type Stats } from "node:fs"
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

const readFailed = (reason: string) =>
  new ExecFailed({ message: `Failed to read prompt from stdin: ${reason}` })

/** A terminal and `/dev/null` hold no prompt. */
const kindOf = (stat: Stats): InputKind =>
  stat.isFIFO() ? "pipe" : stat.isSocket() ? "socket" : stat.isFile() ? "file" : "none"

const stdinStat = (): Stats | undefined => {
  try {
    return fstatSync(0)
  } catch {
    return undefined
  }
}

/** The input of this process. */
export const stdinPrompt = (): PromptInput => {
  const stat = stdinStat()
  // Node reads a directory as if it were empty.
  if (stat?.isDirectory()) {
    return { kind: "file", begun: Effect.void, read: readFailed("it is a directory") }
  }
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
      resume(readFailed(error.message))
    })
    // What is left open would keep the process alive.
    return Effect.sync(() => void stdin.destroy())
  })
  return { kind: stat === undefined ? "none" : kindOf(stat), begun: begun.await, read }
}
