/** The prompt of `exec`: the argument, the standard input, or both. */
import * as Effect from "effect/Effect"
import { fstatSync } from "node:fs"
import { ExecFailed } from "./ExecFailed.ts"

/** Where the prompt comes from. */
export interface PromptSource {
  /** The argument; `-` means the standard input, and so does none. */
  readonly argument: string | undefined
  /** Writes one line on stderr. */
  readonly write: (line: string) => void
}

/** True for a pipe, a file or a socket, which can hold a prompt; false for a terminal and for `/dev/null`. */
const isInput = (): boolean => {
  try {
    const stat = fstatSync(0)
    return stat.isFIFO() || stat.isFile() || stat.isSocket()
  } catch {
    return false
  }
}

const bytesOf = async (): Promise<Buffer> => {
  const pieces: Array<Buffer> = []
  for await (const piece of process.stdin) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

const readInput = Effect.tryPromise({
  try: async () => new TextDecoder("utf-8", { fatal: true }).decode(await bytesOf()),
  catch: (error) =>
    new ExecFailed({
      message: `Failed to read prompt from stdin: ${error instanceof TypeError ? "it is not valid UTF-8" : String(error)}`,
    }),
})

/** The prompt. Fails where there is none. */
export const promptOf = Effect.fnUntraced(function* ({
  argument,
  write,
}: PromptSource): Effect.fn.Return<string, ExecFailed> {
  if (argument !== undefined && argument !== "-") {
    if (!isInput()) return argument
    write("Reading additional input from stdin...")
    const input = yield* readInput
    return input.trim() === "" ? argument : `${argument}\n\n<stdin>\n${input}\n</stdin>`
  }
  if (argument === undefined && !isInput()) {
    return yield* new ExecFailed({
      message: "No prompt provided: give one as an argument, or write it to stdin.",
    })
  }
  if (argument === undefined) write("Reading prompt from stdin...")
  const input = yield* readInput
  if (input.trim() === "") {
    return yield* new ExecFailed({ message: "No prompt provided via stdin." })
  }
  return input
})
