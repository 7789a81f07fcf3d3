/**
 * The options of the command line as data: their spellings, their values, and what they set. Pure.
 *
 * The options that the original accepts before its subcommand (`codex -m gpt-5 mcp-server`) set one key each. Unlike
 * `-c key=value`, they override a profile, so that an explicit option always has the effect that it names.
 */
import { nearest } from "@colloquy/protocol/Nearest"
import * as Result from "effect/Result"
import {
  expectedDatabase,
  isPostgres,
  type ListenAddress,
  parseListen,
  parseNodeAddress,
  postgresAddress,
  type stdio,
} from "./Addresses.ts"

/** A key of the configuration that is set by a dedicated option, such as `--model`. */
export interface Flag {
  readonly option: string
  readonly key: string
  readonly value: string
}

/** The parsed meaning of an option. */
export type Given =
  | { readonly _tag: "Override"; readonly override: string }
  | { readonly _tag: "Flag"; readonly flag: Flag }
  | { readonly _tag: "Out"; readonly directory: string }
  | { readonly _tag: "Directory"; readonly directory: string }
  | { readonly _tag: "Listen"; readonly address: ListenAddress | typeof stdio }
  | { readonly _tag: "NoEvents" }
  | { readonly _tag: "Help" }
  | { readonly _tag: "Version" }

/** An option of the command line. */
export interface Option {
  readonly long: string
  readonly short?: string
  /** Name of the value, for the error if it is missing; absent for an option without a value. */
  readonly value?: string
  /** Parses the value; fails with one line that says why it is not valid. */
  readonly parse: (value: string) => Result.Result<Given, string>
}

/** Why this is no argument of `-c`; undefined if it is one. */
const overrideFault = (text: string): string | undefined => {
  const equals = text.indexOf("=")
  if (equals === -1) return `Invalid override (missing '='): ${JSON.stringify(text.slice(0, 80))}`
  return text.slice(0, equals).trim() === ""
    ? `Empty key in override: ${JSON.stringify(text.slice(0, 80))}`
    : undefined
}

const override = (text: string): Result.Result<Given, string> => {
  const fault = overrideFault(text)
  return fault === undefined
    ? Result.succeed({ _tag: "Override", override: text })
    : Result.fail(fault)
}

/** An option that sets one key to any text. */
const setting = (long: string, short: string, value: string, key: string): Option => ({
  long,
  short,
  value,
  parse: (text) => Result.succeed({ _tag: "Flag", flag: { option: long, key, value: text } }),
})

/** An option that sets one key to one of a few words. A test compares the words with the configuration's schema. */
const choice = (
  long: string,
  short: string,
  key: string,
  choices: ReadonlyArray<string>,
): Option => ({
  long,
  short,
  value: choices.join("|"),
  parse: (text) => {
    if (choices.includes(text)) {
      return Result.succeed({ _tag: "Flag", flag: { option: long, key, value: text } })
    }
    const near = nearest(text, choices)
    return Result.fail(
      `\`${long}\` is one of ${choices.map((word) => `\`${word}\``).join(", ")}, not ${JSON.stringify(text.slice(0, 80))}${near === undefined ? "" : `; did you mean \`${near}\`?`}`,
    )
  },
})

/** An option that sets one key to an address. An error repeats none, since it may have a password. */
const address = (
  long: string,
  key: string,
  value: string,
  isValid: (text: string) => boolean,
  expected = `\`${value}\``,
): Option => ({
  long,
  value,
  parse: (text) =>
    isValid(text)
      ? Result.succeed({ _tag: "Flag", flag: { option: long, key, value: text } })
      : Result.fail(`\`${long}\` takes ${expected}`),
})

const isNode = (text: string): boolean => parseNodeAddress(text) !== undefined

/** An option without a value. */
const flag = (long: string, short: string | undefined, given: Given): Option => ({
  long,
  ...(short === undefined ? {} : { short }),
  parse: () => Result.succeed(given),
})

/** The values of `-s`: those of `sandbox_mode`. */
export const sandboxModes = ["read-only", "workspace-write", "danger-full-access"] as const

/** The values of `-a`: those of `approval_policy`. */
export const approvalPolicies = ["untrusted", "on-failure", "on-request", "never"] as const

/** Every option, in the order of the help page. */
export const options: ReadonlyArray<Option> = [
  { long: "--config", short: "-c", value: "key=value", parse: override },
  setting("--model", "-m", "MODEL", "model"),
  choice("--sandbox", "-s", "sandbox_mode", sandboxModes),
  choice("--ask-for-approval", "-a", "approval_policy", approvalPolicies),
  setting("--profile", "-p", "NAME", "profile"),
  {
    long: "--cd",
    short: "-C",
    value: "DIRECTORY",
    parse: (directory) => Result.succeed({ _tag: "Directory", directory }),
  },
  {
    long: "--listen",
    value: "ADDRESS",
    parse: (text) =>
      Result.map(parseListen(text), (address): Given => ({ _tag: "Listen", address })),
  },
  address("--cluster", "cluster.database", postgresAddress, isPostgres, expectedDatabase),
  address("--cluster-listen", "cluster.listen", "HOST:PORT", isNode),
  address("--cluster-address", "cluster.address", "HOST:PORT", isNode),
  {
    long: "--out",
    short: "-o",
    value: "DIRECTORY",
    parse: (directory) => Result.succeed({ _tag: "Out", directory }),
  },
  flag("--no-events", undefined, { _tag: "NoEvents" }),
  flag("--help", "-h", { _tag: "Help" }),
  flag("--version", "-V", { _tag: "Version" }),
]

/** An option as it was written: as two words (`-m x`), with `=` (`--model=x`), or joined (`-mx`). */
export interface Written {
  readonly option: Option
  /** Absent if the option takes no value, or the value is missing. */
  readonly value?: string
  /** Number of words of the command line that it consists of. */
  readonly words: 1 | 2
}

const joined = (word: string): Written | undefined => {
  for (const option of options) {
    if (option.value === undefined) continue
    if (word.startsWith(`${option.long}=`)) {
      return { option, value: word.slice(option.long.length + 1), words: 1 }
    }
  }
  // `-config=…` is a misspelt `--config=…`, not `-c` with the key `onfig`.
  if (!/^-[a-zA-Z][^-]/.test(word) || nearestLong(word) !== undefined) return undefined
  const option = options.find(
    ({ short, value }) => value !== undefined && word.startsWith(short ?? " "),
  )
  return option === undefined
    ? undefined
    : { option, value: word.slice(2).replace(/^=/, ""), words: 1 }
}

/** The long option that was written with a single dash. */
const nearestLong = (word: string): string | undefined => {
  const name = word.split("=", 1)[0] ?? word
  return options
    .map(({ long }) => long)
    .find((long) => long.length > "--cd".length && long.slice(1) === name)
}

/** The option at `args[index]`; undefined if the word is no known option. */
export const at = (args: ReadonlyArray<string>, index: number): Written | undefined => {
  const word = args[index] ?? ""
  const option = options.find(({ long, short }) => word === long || word === short)
  if (option === undefined) return joined(word)
  if (option.value === undefined) return { option, words: 1 }
  const value = args[index + 1]
  return { option, ...(value === undefined ? {} : { value }), words: 2 }
}
