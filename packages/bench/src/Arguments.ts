/** The command line of the benchmarks. Pure. */
import { nearest } from "@colloquy/protocol/Nearest"

/** What the command line asks for. */
export type Invocation =
  | { readonly _tag: "List" }
  | {
      readonly _tag: "Run"
      readonly name: string
      readonly quick: boolean
      /** Another build's entry to measure. */
      readonly bin?: string
    }
  /** The arguments are not understood; `message` is one line. */
  | { readonly _tag: "Unclear"; readonly message: string }

const options = ["--quick", "--bin"]

const unclear = (kind: string, word: string, known: ReadonlyArray<string>): Invocation => {
  const near = nearest(word, known)
  return {
    _tag: "Unclear",
    message: `unknown ${kind} \`${word}\`${near === undefined ? "" : `, did you mean \`${near}\`?`}`,
  }
}

/**
 * Reads the command line.
 *
 * @param names names of all benchmarks
 */
export const parse = (words: ReadonlyArray<string>, names: ReadonlyArray<string>): Invocation => {
  const [name, ...rest] = words
  if (name === undefined) return { _tag: "List" }
  if (!names.includes(name)) return unclear("benchmark", name, names)
  let quick = false
  let bin: string | undefined
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? ""
    if (word === "--quick") quick = true
    else if (word === "--bin" && rest[index + 1] !== undefined) bin = rest[++index]
    else if (word === "--bin") return { _tag: "Unclear", message: "`--bin` needs a path" }
    else return unclear("option", word, options)
  }
  return { _tag: "Run", name, quick, ...(bin === undefined ? {} : { bin }) }
}
