/**
 * What the command line asks for. Pure: no process, no output; an error for a misspelt word names the nearest known one.
 *
 * Written by hand because everything here runs before the first answer: `effect/cli` alone costs more than the rest
 * of the start and prints usage errors on stdout, where a client expects frames (L9).
 */
import { nearest } from "@colloquy/protocol/Nearest"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Options from "./Options.ts"

/** What a command that loads the configuration starts with. */
export interface Launch {
  /** The arguments of `-c` in order. */
  readonly overrides: ReadonlyArray<string>
  /** What options such as `--model` set, in order; absent where there are none. They win over a profile. */
  readonly flags?: ReadonlyArray<Options.Flag>
  /** The argument of `-C`: where conversations start, in place of the current directory. */
  readonly directory?: string
}

export type Invocation =
  | { readonly _tag: "Help" }
  | ({ readonly _tag: "Version" } & Launch)
  | ({ readonly _tag: "Mcp" } & Launch)
  | ({ readonly _tag: "AppServer" } & Launch)
  | ({ readonly _tag: "Demo" } & Launch)
  | ({ readonly _tag: "Config" } & Launch)
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

/** The command line cannot be understood; `message` is one line. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

type Takes = "overrides" | "directory" | "listen" | "events" | "out" | "dialect"

interface Command {
  readonly takes: ReadonlyArray<Takes>
  readonly invocation: (words: Words) => Invocation
  /** Why it cannot do what was asked, in one line. */
  readonly refuses?: (words: Words) => string | undefined
}

/** The words of a command line, by what they are. */
interface Words {
  readonly overrides: Array<string>
  readonly flags: Array<Options.Flag>
  directory?: string
  listens: boolean
  out?: string
  name?: string
  /** True after `mcp serve`. */
  serves: boolean
  dialect?: DialectName
  asked?: "Help" | "Version"
  silent: boolean
}

const launchOf = ({ directory, flags, overrides, silent }: Words): Launch => ({
  overrides: silent ? [...overrides, "mcp_events=off"] : overrides,
  ...(flags.length === 0 ? {} : { flags }),
  ...(directory === undefined ? {} : { directory }),
})

const mcp: Command = {
  takes: ["overrides", "directory", "listen", "events"],
  invocation: (words) => ({ _tag: "Mcp", ...launchOf(words) }),
}

const appServer: Command = {
  takes: ["overrides", "directory", "listen"],
  invocation: (words) => ({ _tag: "AppServer", ...launchOf(words) }),
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
  ["app-server", appServer],
  ["demo", { takes: ["overrides"], invocation: (words) => ({ _tag: "Demo", ...launchOf(words) }) }],
  [
    "config",
    {
      takes: ["overrides", "directory"],
      invocation: (words) => ({ _tag: "Config", ...launchOf(words) }),
    },
  ],
  ["doctor", { takes: [], invocation: () => ({ _tag: "Doctor" }) }],
  ["generate-ts", generate("ts")],
  ["generate-json-schema", generate("json-schema")],
  ["generate-docs", generate("docs")],
  ["help", help],
])

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

const take = (words: Words, given: Options.Given): void => {
  switch (given._tag) {
    case "Override":
      words.overrides.push(given.override)
      break
    case "Flag":
      words.flags.push(given.flag)
      break
    case "Out":
      words.out = given.directory
      break
    case "Directory":
      words.directory = given.directory
      break
    case "Listen":
      words.listens = true
      break
    case "NoEvents":
      words.silent = true
      break
    case "Help":
    case "Version":
      words.asked ??= given._tag
  }
}

/** Reads the option at `index`; gives how many words it took, or what is wrong. */
const readOption = (words: Words, args: ReadonlyArray<string>, index: number) => {
  const word = args[index] ?? ""
  const written = Options.at(args, index)
  if (written === undefined) {
    return unknown(
      "option",
      word.split("=", 1)[0] ?? word,
      Options.options.map(({ long }) => long),
    )
  }
  const { option, value } = written
  // An empty value comes from an unset variable of a script; no option has a use for one.
  if (option.value !== undefined && (value ?? "").trim() === "") {
    return fail(`${quote(word)} needs a value: \`${option.short ?? option.long} ${option.value}\``)
  }
  const given = option.give(value ?? "")
  if (Result.isFailure(given)) return fail(given.failure)
  take(words, given.success)
  return Result.succeed(written.words)
}

/** Reads the word at `index`; gives how many words it took, or what is wrong. */
const readWord = (words: Words, args: ReadonlyArray<string>, index: number) => {
  const word = args[index] ?? ""
  if (word.startsWith("-")) return readOption(words, args, index)
  if (words.name === undefined) {
    if (!commands.has(word)) return unknown("command", word, [...commands.keys()])
    words.name = word
    return Result.succeed(1)
  }
  // 0.36 called the server `codex mcp serve`.
  if (words.name === "mcp" && word === "serve" && !words.serves) {
    words.serves = true
    return Result.succeed(1)
  }
  if (words.dialect === undefined && commands.get(words.name)?.takes.includes("dialect")) {
    const dialect = readDialect(word)
    if (Result.isFailure(dialect)) return Result.fail(dialect.failure)
    words.dialect = dialect.success
  } else if (words.name !== "help") return fail(`unexpected argument ${quote(word)}`)
  return Result.succeed(1)
}

/** A command that runs nothing with an option would ignore a misplaced one without a word. */
const misplaced = (command: Command, words: Words): string | undefined => {
  const lacks = (takes: Takes) => !command.takes.includes(takes)
  if (words.silent && lacks("events")) return "`--no-events` goes with `mcp`"
  if (words.listens && lacks("listen")) return "`--listen` goes with `mcp` and `app-server`"
  if (words.directory !== undefined && lacks("directory")) {
    return "`--cd` goes with `mcp`, `app-server` and `config`"
  }
  if (words.out !== undefined && lacks("out")) {
    return "`--out` goes with `generate-ts`, `generate-json-schema` and `generate-docs`"
  }
  return words.overrides.length + words.flags.length > 0 && lacks("overrides")
    ? `\`--config\` and the options that set one key do not go with \`${words.name}\`, which reads no configuration`
    : undefined
}

/** Reads the arguments after the program's name. `--help` and `--version` win over a command wherever they are. */
export const parse = (args: ReadonlyArray<string>): Result.Result<Invocation, UsageError> => {
  const words: Words = { overrides: [], flags: [], silent: false, listens: false, serves: false }
  for (let index = 0; index < args.length;) {
    const taken = readWord(words, args, index)
    if (Result.isFailure(taken)) return Result.fail(taken.failure)
    index += taken.success
  }
  if (words.asked === "Help") return Result.succeed({ _tag: "Help" })
  if (words.asked === "Version") return Result.succeed({ _tag: "Version", ...launchOf(words) })
  const command = commands.get(words.name ?? "help") ?? help
  const refused =
    command === help ? undefined : (misplaced(command, words) ?? command.refuses?.(words))
  return refused === undefined ? Result.succeed(command.invocation(words)) : fail(refused)
}
