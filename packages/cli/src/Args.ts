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
  | { readonly _tag: "AppServer"; readonly overrides: ReadonlyArray<string> }
  | { readonly _tag: "Demo"; readonly overrides: ReadonlyArray<string> }
  | { readonly _tag: "Config"; readonly overrides: ReadonlyArray<string> }
  | { readonly _tag: "Doctor" }
  | ({ readonly _tag: "Generate"; readonly format: GenerateFormat } & GenerateScope)

export type GenerateFormat = "ts" | "json-schema" | "docs"

/** What is generated, and where to. */
export interface GenerateScope {
  /** Without one, every dialect. */
  readonly dialect?: DialectName
  /** Directory; without one, stdout. */
  readonly out?: string
}

/** By their names only: the definitions are more than a start can bear. A test compares them. */
export const dialects = ["app-server", "codex-mcp"] as const
export type DialectName = (typeof dialects)[number]

/** Nobody can tell what was meant; `message` is one line. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

type Option = "overrides" | "events" | "out" | "dialect"

interface Command {
  readonly takes: ReadonlyArray<Option>
  readonly invocation: (given: Given) => Invocation
  /** What it cannot do as it was asked. */
  readonly refuses?: (given: Given) => string | undefined
}

interface Given extends GenerateScope {
  readonly overrides: ReadonlyArray<string>
}

const mcp: Command = {
  takes: ["overrides", "events"],
  invocation: ({ overrides }) => ({ _tag: "Mcp", overrides }),
}

const generate = (format: GenerateFormat): Command => ({
  takes: ["out", "dialect"],
  invocation: ({ dialect, out }) => ({
    _tag: "Generate",
    format,
    ...(dialect === undefined ? {} : { dialect }),
    ...(out === undefined ? {} : { out }),
  }),
  // Two documents make one text of Markdown, and no JSON or TypeScript.
  refuses: ({ dialect, out }) =>
    format === "docs" || dialect !== undefined || out !== undefined
      ? undefined
      : `\`generate-${format}\` prints one dialect: name it (${named(dialects, "or")}), or write both with \`-o DIRECTORY\``,
})

const named = (names: ReadonlyArray<string>, joint: "and" | "or") =>
  names.map((name) => `\`${name}\``).join(` ${joint} `)

const help: Command = { takes: [], invocation: () => ({ _tag: "Help" }) }

/** `mcp-server` is the original's name from 0.45 on. */
const commands: ReadonlyMap<string, Command> = new Map([
  ["mcp", mcp],
  ["mcp-server", mcp],
  [
    "app-server",
    { takes: ["overrides"], invocation: ({ overrides }) => ({ _tag: "AppServer", overrides }) },
  ],
  ["demo", { takes: ["overrides"], invocation: ({ overrides }) => ({ _tag: "Demo", overrides }) }],
  [
    "config",
    { takes: ["overrides"], invocation: ({ overrides }) => ({ _tag: "Config", overrides }) },
  ],
  ["doctor", { takes: [], invocation: () => ({ _tag: "Doctor" }) }],
  ["generate-ts", generate("ts")],
  ["generate-json-schema", generate("json-schema")],
  ["generate-docs", generate("docs")],
  ["help", help],
])

const noEvents = "--no-events"
const options = ["--config", "--help", noEvents, "--out", "--version"]

/** What goes with an option that the command does not take. */
const takers: Readonly<Record<Exclude<Option, "overrides" | "dialect">, string>> = {
  events: `${noEvents}\` goes with \`mcp`,
  out: "--out` goes with `generate-ts`, `generate-json-schema` and `generate-docs",
}

const fail = (message: string) => Result.fail(new UsageError({ message }))

/** The word in one printable line, whatever it holds. */
const quote = (word: string): string => `\`${JSON.stringify(word.slice(0, 80)).slice(1, -1)}\``

const unknown = (kind: string, word: string, known: ReadonlyArray<string>) => {
  const near = nearest(word, known)
  return fail(
    `unknown ${kind} ${quote(word)}${near === undefined ? "" : `, did you mean \`${near}\`?`}`,
  )
}

const readDialect = (word: string) => {
  const dialect = dialects.find((name) => name === word)
  if (dialect !== undefined) return Result.succeed(dialect)
  return nearest(word, dialects) === undefined
    ? fail(`unknown dialect ${quote(word)}: there are ${named(dialects, "and")}`)
    : unknown("dialect", word, dialects)
}

/** The value of an option at `args[index]`, in any of its spellings, and how many words it took. */
const valueAt = (args: ReadonlyArray<string>, index: number) => {
  const word = args[index] ?? ""
  for (const [option, long, short] of [
    ["overrides", "--config", "-c"],
    ["out", "--out", "-o"],
  ] as const) {
    if (word === short || word === long) return { option, value: args[index + 1], words: 2 }
    if (word.startsWith(`${long}=`)) return { option, value: word.slice(long.length + 1), words: 1 }
  }
  // `-config=…` is a misspelt `--config=…`, and no key `onfig`.
  return /^-c(?!onfig=).*=/.test(word)
    ? { option: "overrides" as const, value: word.slice(2), words: 1 }
    : undefined
}

/** The words of a command line, told apart. */
interface Words {
  readonly overrides: Array<string>
  out?: string
  name?: string
  dialect?: DialectName
  asked?: "Help" | "Version"
  silent: boolean
}

const needsValue = (word: string, option: "overrides" | "out") =>
  `${quote(word)} needs a value: \`${option === "out" ? "-o DIRECTORY" : "-c key=value"}\``

/** Reads the word at `index`; gives how many it took, or what is wrong. */
const readWord = (words: Words, args: ReadonlyArray<string>, index: number) => {
  const word = args[index] ?? ""
  const given = valueAt(args, index)
  if (given !== undefined) {
    if (given.value === undefined) return fail(needsValue(word, given.option))
    if (given.option === "out") words.out = given.value
    else words.overrides.push(given.value)
    return Result.succeed(given.words)
  }
  if (word === "-h" || word === "--help") words.asked ??= "Help"
  else if (word === "-V" || word === "--version") words.asked ??= "Version"
  else if (word === noEvents) words.silent = true
  else if (word.startsWith("-")) return unknown("option", word.split("=", 1)[0] ?? word, options)
  else if (words.name === undefined) {
    if (!commands.has(word)) return unknown("command", word, [...commands.keys()])
    words.name = word
    // 0.36 called the server `codex mcp serve`.
    return Result.succeed(word === "mcp" && args[index + 1] === "serve" ? 2 : 1)
  } else if (words.dialect === undefined && commands.get(words.name)?.takes.includes("dialect")) {
    const dialect = readDialect(word)
    if (Result.isFailure(dialect)) return Result.fail(dialect.failure)
    words.dialect = dialect.success
  } else if (words.name !== "help") return fail(`unexpected argument ${quote(word)}`)
  return Result.succeed(1)
}

/** Reads the arguments after the program's name. `--help` and `--version` win over a command wherever they stand. */
export const parse = (args: ReadonlyArray<string>): Result.Result<Invocation, UsageError> => {
  const words: Words = { overrides: [], silent: false }
  for (let index = 0; index < args.length;) {
    const taken = readWord(words, args, index)
    if (Result.isFailure(taken)) return Result.fail(taken.failure)
    index += taken.success
  }
  if (words.asked !== undefined) return Result.succeed({ _tag: words.asked })
  const command = commands.get(words.name ?? "help") ?? help
  // A command that runs nothing with it would let a misplaced flag go by in silence.
  if (command !== help) {
    if (words.silent && !command.takes.includes("events")) return fail(`\`${takers.events}\``)
    if (words.out !== undefined && !command.takes.includes("out")) return fail(`\`${takers.out}\``)
    if (words.overrides.length > 0 && !command.takes.includes("overrides")) {
      return fail(`\`--config\` does not go with \`${words.name}\`, which reads none`)
    }
  }
  const given: Given = {
    overrides: [...words.overrides, ...(words.silent ? ["mcp_events=off"] : [])],
    ...(words.dialect === undefined ? {} : { dialect: words.dialect }),
    ...(words.out === undefined ? {} : { out: words.out }),
  }
  const refused = command.refuses?.(given)
  return refused === undefined ? Result.succeed(command.invocation(given)) : fail(refused)
}
