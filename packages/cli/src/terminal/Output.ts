/** Where commands for people write: the terminal, or the file or pipe that stdout leads to. */
import { spelledOut } from "@colloquy/core/question/VisibleText"
import * as Effect from "effect/Effect"
import { colored, plain, type Style } from "../demo/Style.ts"

/** See the header. */
export interface Output {
  /** Columns of the terminal; 80 where there is none. */
  readonly columns: number
  readonly style: Style
  readonly isTerminal: boolean
}

/** Where stdout leads to now. Colours are for terminals that take them, unless NO_COLOR is set. */
export const output = (): Output => {
  const { stdout } = process
  const isTerminal = stdout.isTTY
  const isColored =
    isTerminal && (process.env["NO_COLOR"] ?? "") === "" && process.env["TERM"] !== "dumb"
  return {
    columns: isTerminal && stdout.columns > 0 ? stdout.columns : 80,
    style: isColored ? colored : plain,
    isTerminal,
  }
}

/** Writes lines on stdout. Resolves when they have been written. */
export const print = (lines: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    process.stdout.write(lines.map((line) => `${line}\n`).join(""), () => resume(Effect.void))
  })

/** Writes a line about what a command could not do on stderr, for a command that goes on with the rest. */
export const printProblem = (message: string): Effect.Effect<void> =>
  Effect.sync(() => {
    process.stderr.write(`colloquy: ${spelledOut(message)}\n`)
  })
