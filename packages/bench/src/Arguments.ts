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
      /** Command lines of other servers to measure. */
      readonly peers?: ReadonlyArray<string>
      readonly runs?: number
      /** File for the figures as JSON. */
      readonly json?: string
      /** True: the documentation gets the figures. */
      readonly write?: true
    }
  /** The arguments are not understood; `message` is one line. */
  | { readonly _tag: "Unclear"; readonly message: string }

const options = ["--quick", "--bin", "--peer", "--runs", "--json", "--write"]

/** What follows the options that need a word. */
const needed = {
  "--bin": "a path",
  "--json": "a path",
  "--peer": "a command line",
  "--runs": "a positive number",
} as const

const isNeedy = (word: string): word is keyof typeof needed => word in needed

/** Options that have been read so far. */
type Read = Omit<Extract<Invocation, { readonly _tag: "Run" }>, "_tag" | "name">

/** With this option; undefined when its word is not understood. */
const withWord = (read: Read, option: keyof typeof needed, word: string): Read | undefined => {
  switch (option) {
    case "--bin":
      return { ...read, bin: word }
    case "--json":
      return { ...read, json: word }
    case "--peer":
      return { ...read, peers: [...(read.peers ?? []), word] }
    case "--runs":
      return /^[1-9]\d*$/.test(word) ? { ...read, runs: Number(word) } : undefined
  }
}

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
  let read: Read = { quick: false }
  for (let index = 0; index < rest.length; index++) {
    const option = rest[index] ?? ""
    if (option === "--quick") read = { ...read, quick: true }
    else if (option === "--write") read = { ...read, write: true }
    else if (isNeedy(option)) {
      const word = rest[++index]
      const more = word === undefined ? undefined : withWord(read, option, word)
      if (more === undefined) {
        return { _tag: "Unclear", message: `\`${option}\` needs ${needed[option]}` }
      }
      read = more
    } else return unclear("option", option, options)
  }
  return { _tag: "Run", name, ...read }
}
