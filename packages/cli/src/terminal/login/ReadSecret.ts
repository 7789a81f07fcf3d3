/** Reads a secret from stdin, so that it is in no list of processes and no history of a shell. */
import * as Effect from "effect/Effect"
import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import { CommandFailed } from "../CommandFailed.ts"

/** Longest secret, in characters. */
const maxLength = 64 * 1024

/** Shows nothing of what is typed. */
const typed = (question: string) =>
  Effect.callback<string, CommandFailed>((resume) => {
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
    const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
    // The terminal shows what is typed until the interface exists.
    process.stderr.write(question)
    let line: string | undefined
    lines.once("line", (text) => {
      line = text
      lines.close()
    })
    lines.once("SIGINT", () => lines.close())
    lines.once("close", () => {
      process.stderr.write("\n")
      resume(
        line === undefined
          ? Effect.fail(new CommandFailed({ message: "interrupted: nothing was changed" }))
          : Effect.succeed(line.trim()),
      )
    })
    return Effect.sync(() => lines.close())
  })

const piped = Effect.tryPromise({
  try: async () => {
    let text = ""
    process.stdin.setEncoding("utf8")
    for await (const piece of process.stdin) {
      text += piece
      if (text.length > maxLength) throw new Error("too long")
    }
    return text.trim()
  },
  catch: () => new CommandFailed({ message: "stdin could not be read, or is longer than a key" }),
})

/** The secret, without white space around it. */
export const readSecret = (question: string): Effect.Effect<string, CommandFailed> =>
  process.stdin.isTTY ? typed(question) : piped
