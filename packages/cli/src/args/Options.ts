/**
 * The options of the command line as data: their spellings, what their value is, and what they set. Pure.
 *
 * The options that the original's command line has before its subcommand (`codex -m gpt-5 mcp-server`) set one key each.
 * Unlike `-c key=value`, they win over a profile: the person who starts the program sees only what the option says.
 */
import { nearest } from "@colloquy/protocol/Nearest"
import * as Result from "effect/Result"

/** A key of the configuration that an option of its own sets. */
export interface Flag {
  readonly option: string
  readonly key: string
  readonly value: string
}

/** What an option gives to the command it stands beside. */
export type Given =
  | { readonly _tag: "Override"; readonly override: string }
  | { readonly _tag: "Flag"; readonly flag: Flag }
  | { readonly _tag: "Out"; readonly directory: string }
  | { readonly _tag: "Directory"; readonly directory: string }
  | { readonly _tag: "Listen" }
  | { readonly _tag: "NoEvents" }
  | { readonly _tag: "Help" }
  | { readonly _tag: "Version" }

export interface Option {
  readonly long: string
  readonly short?: string
  /** Shown where the value is missing; absent for an option that takes none. */
  readonly value?: string
  /** What the option gives, or in one line why its value is refused. */
  readonly give: (value: string) => Result.Result<Given, string>
}

const override = (text: string): Result.Result<Given, string> =>
  Result.succeed({ _tag: "Override", override: text })

/** An option that sets one key to a text. */
const setting = (long: string, short: string, value: string, key: string): Option => ({
  long,
  short,
  value,
  give: (text) => Result.succeed({ _tag: "Flag", flag: { option: long, key, value: text } }),
})

/** An option that sets one key to one of some words; a test compares the words with the configuration's schema. */
const choice = (
  long: string,
  short: string,
  key: string,
  choices: ReadonlyArray<string>,
): Option => ({
  long,
  short,
  value: choices.join("|"),
  give: (text) => {
    if (choices.includes(text)) {
      return Result.succeed({ _tag: "Flag", flag: { option: long, key, value: text } })
    }
    const near = nearest(text, choices)
    return Result.fail(
      `\`${long}\` is one of ${choices.map((word) => `\`${word}\``).join(", ")}, not ${JSON.stringify(text.slice(0, 80))}${near === undefined ? "" : `; did you mean \`${near}\`?`}`,
    )
  },
})

/** An option without a value. */
const flag = (long: string, short: string | undefined, given: Given): Option => ({
  long,
  ...(short === undefined ? {} : { short }),
  give: () => Result.succeed(given),
})

/** The values of `-s`, as `sandbox_mode` has them. */
export const sandboxModes = ["read-only", "workspace-write", "danger-full-access"] as const

/** The values of `-a`, as `approval_policy` has them. */
export const approvalPolicies = ["untrusted", "on-failure", "on-request", "never"] as const

const stdio = "stdio://"

export const options: ReadonlyArray<Option> = [
  { long: "--config", short: "-c", value: "key=value", give: override },
  setting("--model", "-m", "MODEL", "model"),
  choice("--sandbox", "-s", "sandbox_mode", sandboxModes),
  choice("--ask-for-approval", "-a", "approval_policy", approvalPolicies),
  setting("--profile", "-p", "NAME", "profile"),
  {
    long: "--cd",
    short: "-C",
    value: "DIRECTORY",
    give: (directory) => Result.succeed({ _tag: "Directory", directory }),
  },
  {
    long: "--listen",
    value: stdio,
    give: (address) =>
      address === stdio
        ? Result.succeed({ _tag: "Listen" })
        : Result.fail(
            `\`--listen\` takes \`${stdio}\` only, not ${JSON.stringify(address.slice(0, 80))}`,
          ),
  },
  {
    long: "--out",
    short: "-o",
    value: "DIRECTORY",
    give: (directory) => Result.succeed({ _tag: "Out", directory }),
  },
  flag("--no-events", undefined, { _tag: "NoEvents" }),
  flag("--help", "-h", { _tag: "Help" }),
  flag("--version", "-V", { _tag: "Version" }),
]

/** An option as it was written: in two words (`-m x`), with `=` (`--model=x`), or joined (`-mx`). */
export interface Written {
  readonly option: Option
  /** Absent where the option takes none or it is missing. */
  readonly value?: string
  /** Number of words of the command line that it took. */
  readonly words: 1 | 2
}

const joined = (word: string): Written | undefined => {
  for (const option of options) {
    if (option.value === undefined) continue
    if (word.startsWith(`${option.long}=`)) {
      return { option, value: word.slice(option.long.length + 1), words: 1 }
    }
  }
  // `-config=…` is a misspelt `--config=…`, not the key `onfig`.
  if (!/^-[a-zA-Z][^-]/.test(word) || nearestLong(word) !== undefined) return undefined
  const option = options.find(
    ({ short, value }) => value !== undefined && word.startsWith(short ?? " "),
  )
  return option === undefined
    ? undefined
    : { option, value: word.slice(2).replace(/^=/, ""), words: 1 }
}

/** The long option that a word with one dash misspells. */
const nearestLong = (word: string): string | undefined => {
  const name = word.split("=", 1)[0] ?? word
  return options
    .map(({ long }) => long)
    .find((long) => long.length > "--cd".length && long.slice(1) === name)
}

/** The option at `args[index]`, or undefined where no known one is written there. */
export const at = (args: ReadonlyArray<string>, index: number): Written | undefined => {
  const word = args[index] ?? ""
  const option = options.find(({ long, short }) => word === long || word === short)
  if (option === undefined) return joined(word)
  if (option.value === undefined) return { option, words: 1 }
  const value = args[index + 1]
  return { option, ...(value === undefined ? {} : { value }), words: 2 }
}
