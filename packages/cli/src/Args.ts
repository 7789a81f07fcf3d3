/**
 * What the command line asks for. Pure: no process, no output; a misspelt word is told with the nearest known one.
 *
 * Written by hand because everything here runs before the first answer: `effect/cli` alone costs more than the rest
 * of the start (effect4-notes §12) and prints usage errors on stdout, where a client expects frames (L9).
 */
import { nearest } from "@colloquy/protocol/Nearest"
import * as Data from "effect/Data"
import * as Result from "effect/Result"

export type Invocation =
  | { readonly _tag: "Help" }
  | { readonly _tag: "Version" }
  /** `overrides` are the arguments of `-c`, in order (§7.4); `--no-events` is one more of them, the last. */
  | { readonly _tag: "Mcp"; readonly overrides: ReadonlyArray<string> }
  | { readonly _tag: "Demo"; readonly overrides: ReadonlyArray<string> }
  | { readonly _tag: "Config"; readonly overrides: ReadonlyArray<string> }
  | { readonly _tag: "Doctor" }

/** Nobody can tell what was meant; `message` is one line. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

type CommandTag = "Help" | "Mcp" | "Demo" | "Config" | "Doctor"

/** `mcp-server` is the original's name from 0.45 on. */
const commands: ReadonlyMap<string, CommandTag> = new Map([
  ["mcp", "Mcp"],
  ["mcp-server", "Mcp"],
  ["demo", "Demo"],
  ["config", "Config"],
  ["doctor", "Doctor"],
  ["help", "Help"],
])
const noEvents = "--no-events"
const options = ["--config", "--help", noEvents, "--version"]

const fail = (message: string) => Result.fail(new UsageError({ message }))

/** The word in one printable line, whatever it holds. */
const quote = (word: string): string => `\`${JSON.stringify(word.slice(0, 80)).slice(1, -1)}\``

const unknown = (kind: string, word: string, known: ReadonlyArray<string>) => {
  const near = nearest(word, known)
  return fail(
    `unknown ${kind} ${quote(word)}${near === undefined ? "" : `, did you mean \`${near}\`?`}`,
  )
}

/** The value of a `-c` or `--config` at `args[index]`, in any of its spellings, and how many words it took. */
const overrideAt = (args: ReadonlyArray<string>, index: number) => {
  const word = args[index] ?? ""
  if (word === "-c" || word === "--config") return { value: args[index + 1], words: 2 }
  if (word.startsWith("--config=")) return { value: word.slice("--config=".length), words: 1 }
  // `-config=…` is a misspelt `--config=…`, and no key `onfig`.
  if (/^-c(?!onfig=).*=/.test(word)) return { value: word.slice(2), words: 1 }
  return undefined
}

/** Reads the arguments after the program's name. `--help` and `--version` win over a command wherever they stand. */
export const parse = (args: ReadonlyArray<string>): Result.Result<Invocation, UsageError> => {
  const overrides: Array<string> = []
  let command: CommandTag | undefined
  let asked: "Help" | "Version" | undefined
  let silent = false
  for (let index = 0; index < args.length;) {
    const word = args[index] ?? ""
    const override = overrideAt(args, index)
    if (override !== undefined) {
      if (override.value === undefined)
        return fail(`${quote(word)} needs a value: \`-c key=value\``)
      overrides.push(override.value)
      index += override.words
      continue
    }
    if (word === "-h" || word === "--help") asked ??= "Help"
    else if (word === "-V" || word === "--version") asked ??= "Version"
    else if (word === noEvents) silent = true
    else if (word.startsWith("-")) return unknown("option", word.split("=", 1)[0] ?? word, options)
    else if (command === undefined) {
      command = commands.get(word)
      if (command === undefined) return unknown("command", word, [...commands.keys()])
      // 0.36 called the server `codex mcp serve`.
      if (word === "mcp" && args[index + 1] === "serve") index += 1
    } else if (command !== "Help") return fail(`unexpected argument ${quote(word)}`)
    index += 1
  }
  const tag = asked ?? command ?? "Help"
  if (silent && (tag === "Demo" || tag === "Config" || tag === "Doctor"))
    return fail(`${quote(noEvents)} goes with \`mcp\``)
  if (silent) overrides.push("mcp_events=off")
  return Result.succeed(
    tag === "Mcp" || tag === "Demo" || tag === "Config" ? { _tag: tag, overrides } : { _tag: tag },
  )
}
