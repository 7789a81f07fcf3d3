/**
 * Parses the command line. Pure: no process, no output. The error for a misspelt word names the nearest known one.
 *
 * Written by hand because it runs before the first response: `effect/cli` alone takes longer to load than the rest of the
 * startup, and prints usage errors on stdout, where a client expects frames (L9).
 */
import { nearest } from "@colloquy/protocol/Nearest"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import { type ListenAddress, stdio } from "./Addresses.ts"
import * as Options from "./Options.ts"
import { peopleCommands } from "./PeopleCommands.ts"

/** The options of a command that loads the configuration. */
export interface Launch {
  /** The arguments of `-c`, in order. */
  readonly overrides: ReadonlyArray<string>
  /** The keys that options such as `--model` set, in order; absent if there are none. They override a profile. */
  readonly flags?: ReadonlyArray<Options.Flag>
  /** The argument of `-C`: the directory in which conversations start, instead of the current directory. */
  readonly directory?: string
}

/** A valid command line: one command with its options. */
export type Invocation =
  /** `topic`: the command whose page is shown, with its subcommand; absent for the page of the program. */
  | { readonly _tag: "Help"; readonly topic?: ReadonlyArray<string> }
  | ({ readonly _tag: "Version" } & Launch)
  | ({ readonly _tag: "Mcp" } & Launch)
  | ({ readonly _tag: "AppServer" } & Launch)
  | ({
      readonly _tag: "Serve"
      readonly served: Served
      readonly address: ListenAddress
    } & Launch)
  | ({ readonly _tag: "Demo" } & Launch)
  | ({ readonly _tag: "Config" } & Launch)
  | ({ readonly _tag: "Doctor" } & Launch)
  | ({ readonly _tag: "Generate"; readonly format: GenerateFormat } & GenerateScope)

/** What is served on a port: everything, or one dialect. */
export type Served = "all" | "mcp" | "app-server"

/** The output format of a `generate-*` command. */
export type GenerateFormat = "ts" | "json-schema" | "docs"

/** What a `generate-*` command generates, and its destination. */
export interface GenerateScope {
  /** Default: every dialect. */
  readonly dialect?: DialectName
  /** Directory for the files. Default: stdout. */
  readonly out?: string
}

/** The names of the dialects. Listed here because loading the definitions would delay every start; a test compares them. */
export const dialects = ["app-server", "app-server-v2", "codex-mcp"] as const
/** The name of a dialect. */
export type DialectName = (typeof dialects)[number]

/** The command line is not valid; `message` is one line. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

type Takes = "overrides" | "directory" | "listen" | "events" | "cluster" | "out" | "dialect"

interface Command {
  readonly takes: ReadonlyArray<Takes>
  readonly invocation: (words: Words) => Invocation
  /** Returns in one line why the command cannot run with these words; undefined if it can. */
  readonly problem?: (words: Words) => string | undefined
}

/** The words of a command line, classified. */
interface Words {
  readonly overrides: Array<string>
  readonly flags: Array<Options.Flag>
  directory?: string
  listen?: ListenAddress | typeof stdio
  out?: string
  name?: string
  /** True after `mcp serve`. */
  hasServe: boolean
  dialect?: DialectName
  /** The words after `help`. */
  readonly topic: Array<string>
  shortcut?: "Help" | "Version"
  noEvents: boolean
}

const launchOf = ({ directory, flags, noEvents, overrides }: Words): Launch => ({
  overrides: noEvents ? [...overrides, "mcp_events=off"] : overrides,
  ...(flags.length === 0 ? {} : { flags }),
  ...(directory === undefined ? {} : { directory }),
})

/** Where `serve` listens by default. */
const defaultAddress: ListenAddress = { scheme: "http", host: "127.0.0.1", port: 8747 }

const portOf = ({ listen }: Words): ListenAddress | undefined =>
  listen === stdio ? undefined : listen

/** The error for an address whose protocol the command does not serve. */
const listenProblem =
  (name: string, schemes: ReadonlyArray<string>) =>
  ({ listen }: Words): string | undefined => {
    const scheme = listen === undefined ? undefined : listen === stdio ? "stdio" : listen.scheme
    return scheme === undefined || schemes.includes(scheme)
      ? undefined
      : `\`${name} --listen\` takes ${alternatives(schemes.map((one) => `${one}://`))}, not \`${scheme}://\``
  }

const mcp: Command = {
  takes: ["overrides", "directory", "listen", "events"],
  problem: listenProblem("mcp", ["stdio", "http", "https"]),
  invocation: (words) => {
    const address = portOf(words)
    return address === undefined
      ? { _tag: "Mcp", ...launchOf(words) }
      : { _tag: "Serve", served: "mcp", address, ...launchOf(words) }
  },
}

const appServer: Command = {
  takes: ["overrides", "directory", "listen"],
  problem: listenProblem("app-server", ["stdio", "ws", "wss"]),
  invocation: (words) => {
    const address = portOf(words)
    return address === undefined
      ? { _tag: "AppServer", ...launchOf(words) }
      : { _tag: "Serve", served: "app-server", address, ...launchOf(words) }
  },
}

const serve: Command = {
  takes: ["overrides", "directory", "listen", "events", "cluster"],
  problem: listenProblem("serve", ["http", "https"]),
  invocation: (words) => ({
    _tag: "Serve",
    served: "all",
    address: portOf(words) ?? defaultAddress,
    ...launchOf(words),
  }),
}

const generate = (format: GenerateFormat): Command => ({
  takes: ["out", "dialect"],
  invocation: ({ dialect, out }) => ({
    _tag: "Generate",
    format,
    ...(dialect === undefined ? {} : { dialect }),
    ...(out === undefined ? {} : { out }),
  }),
  // Documents can be concatenated in Markdown, but not in JSON or TypeScript.
  problem: ({ dialect, out }) =>
    format === "docs" || dialect !== undefined || out !== undefined
      ? undefined
      : `\`generate-${format}\` prints one dialect: name it (${alternatives(dialects)}), or write all with \`-o DIRECTORY\``,
})

const alternatives = (names: ReadonlyArray<string>) =>
  names
    .map((name) => `\`${name}\``)
    .join(", ")
    .replace(/, (?=[^,]*$)/, " or ")

const help: Command = {
  takes: [],
  invocation: ({ name, topic }) => {
    const words = topic.length > 0 || name === undefined || name === "help" ? topic : [name]
    return { _tag: "Help", ...(words.length === 0 ? {} : { topic: words }) }
  },
}

/** `mcp-server` is the name that the original uses since version 0.45. */
const commands: ReadonlyMap<string, Command> = new Map([
  ["mcp", mcp],
  ["mcp-server", mcp],
  ["app-server", appServer],
  ["serve", serve],
  ["demo", { takes: ["overrides"], invocation: (words) => ({ _tag: "Demo", ...launchOf(words) }) }],
  [
    "config",
    {
      takes: ["overrides", "directory"],
      invocation: (words) => ({ _tag: "Config", ...launchOf(words) }),
    },
  ],
  [
    "doctor",
    {
      takes: ["overrides", "directory"],
      invocation: (words) => ({ _tag: "Doctor", ...launchOf(words) }),
    },
  ],
  ["generate-ts", generate("ts")],
  ["generate-json-schema", generate("json-schema")],
  ["generate-docs", generate("docs")],
  ["help", help],
])

const fail = (message: string) => Result.fail(new UsageError({ message }))

/** The word in one printable line, with control characters escaped. */
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
    ? fail(`unknown dialect ${quote(word)}, expected ${alternatives(dialects)}`)
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
      words.listen = given.address
      break
    case "NoEvents":
      words.noEvents = true
      break
    case "Help":
    case "Version":
      words.shortcut ??= given._tag
  }
}

/** Reads the option at `index`. Returns the number of words it consumed, or the error. */
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
  // An empty value is usually an unset variable of a script; it is valid for no option.
  if (option.value !== undefined && (value ?? "").trim() === "") {
    return fail(`${quote(word)} needs a value: \`${option.short ?? option.long} ${option.value}\``)
  }
  const given = option.parse(value ?? "")
  if (Result.isFailure(given)) return fail(given.failure)
  take(words, given.success)
  return Result.succeed(written.words)
}

const allCommands = () => [...commands.keys(), ...peopleCommands]

/** Reads the word at `index`. Returns the number of words it consumed, or the error. */
const readWord = (words: Words, args: ReadonlyArray<string>, index: number) => {
  const word = args[index] ?? ""
  if (word.startsWith("-")) return readOption(words, args, index)
  if (words.name === undefined) {
    // What follows is parsed elsewhere.
    if (words.shortcut === "Version" && peopleCommands.has(word)) {
      return Result.succeed(args.length - index)
    }
    if (!commands.has(word)) return unknown("command", word, allCommands())
    words.name = word
    return Result.succeed(1)
  }
  if (words.name === "help") {
    if (words.topic.length === 0 && !allCommands().includes(word)) {
      return unknown("command", word, allCommands())
    }
    words.topic.push(word)
    return Result.succeed(1)
  }
  // Version 0.36 of the original called the server `codex mcp serve`.
  if (words.name === "mcp" && word === "serve" && !words.hasServe) {
    words.hasServe = true
    return Result.succeed(1)
  }
  if (words.dialect === undefined && commands.get(words.name)?.takes.includes("dialect")) {
    const dialect = readDialect(word)
    if (Result.isFailure(dialect)) return Result.fail(dialect.failure)
    words.dialect = dialect.success
  } else return fail(`unexpected argument ${quote(word)}`)
  return Result.succeed(1)
}

/** The error for an option that the command does not take, which would otherwise be ignored silently. */
const misplaced = (command: Command, words: Words): string | undefined => {
  const lacks = (takes: Takes) => !command.takes.includes(takes)
  if (words.noEvents && lacks("events")) return "`--no-events` is only valid with `mcp` and `serve`"
  if (words.listen !== undefined && lacks("listen"))
    return "`--listen` is only valid with `mcp`, `app-server` and `serve`"
  const cluster = words.flags.find(({ key }) => key.startsWith("cluster."))
  if (cluster !== undefined && lacks("cluster"))
    return `\`${cluster.option}\` is only valid with \`serve\``
  if (words.directory !== undefined && lacks("directory")) {
    return "`--cd` is only valid with `mcp`, `app-server`, `serve`, `config` and `doctor`"
  }
  if (words.out !== undefined && lacks("out")) {
    return "`--out` is only valid with `generate-ts`, `generate-json-schema` and `generate-docs`"
  }
  return words.overrides.length + words.flags.length > 0 && lacks("overrides")
    ? `\`--config\` and the options that set one key are not valid with \`${words.name}\`, which reads no configuration`
    : undefined
}

/** Parses the arguments after the program's name. `--help` and `--version` override a command, wherever they are. */
export const parse = (args: ReadonlyArray<string>): Result.Result<Invocation, UsageError> => {
  const words: Words = {
    overrides: [],
    flags: [],
    topic: [],
    noEvents: false,
    hasServe: false,
  }
  for (let index = 0; index < args.length;) {
    const taken = readWord(words, args, index)
    if (Result.isFailure(taken)) return Result.fail(taken.failure)
    index += taken.success
  }
  if (words.shortcut === "Help") return Result.succeed(help.invocation(words))
  if (words.shortcut === "Version") return Result.succeed({ _tag: "Version", ...launchOf(words) })
  const command = commands.get(words.name ?? "help") ?? help
  const problem =
    command === help ? undefined : (misplaced(command, words) ?? command.problem?.(words))
  return problem === undefined ? Result.succeed(command.invocation(words)) : fail(problem)
}
