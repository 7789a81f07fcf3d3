/**
 * Summarizes for people what a command does (`parsed_cmd`): read a file, list files, search, or unknown. The summary
 * uses names only. It is no judgement of safety, and nothing is decided by it.
 *
 * In a plain script each command is summarized. An `echo` before others, `|| true` and the filters after a pipe are
 * left out; a leading `cd` becomes part of the paths (as recorded in packages/server/test/fixtures/v0.29.0,
 * trusted_command and shell_timeout). One unknown command among several makes the script unknown as a whole.
 */
import type { ParsedCommand } from "@colloquy/protocol/events/CommandEvents"
import { plainCommands } from "./PlainScript.ts"
import { shellScript } from "./SafeCommand.ts"

type Words = ReadonlyArray<string>

const unknown = (cmd: string): ParsedCommand => ({ type: "unknown", cmd })

/** Quotes a word as a shell requires. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

const joined = (words: Words): string => words.map(quoted).join(" ")

const dull = new Set(["build", "dist", "node_modules", "src"])

/** The last part of a path that identifies it. */
const shortPath = (path: string): string =>
  path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .findLast((part) => !dull.has(part)) ?? path

/** Words that are no options; an option among `valued` is followed by its value. */
const operands = (args: Words, valued: Words = []): Words => {
  const found: Array<string> = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ""
    if (arg === "--") return [...found, ...args.slice(i + 1)]
    if (valued.includes(arg)) i++
    else if (!arg.startsWith("-") || arg === "-") found.push(arg)
  }
  return found
}

const read = (words: Words, files: Words): ParsedCommand => {
  const [file] = files
  return file === undefined || file === "-" || files.length > 1
    ? unknown(joined(words))
    : { type: "read", cmd: joined(words), name: shortPath(file) }
}

const under = (directory: string | undefined, path: string | undefined): string | null => {
  if (path === undefined) return directory === undefined ? null : shortPath(directory)
  return shortPath(directory === undefined || path !== "." ? path : directory)
}

const search = (
  words: Words,
  directory: string | undefined,
  [query, path]: Words,
): ParsedCommand => ({
  type: "search",
  cmd: joined(words),
  query: query ?? null,
  path: under(directory, path),
})

const listFiles = (words: Words, directory: string | undefined, path?: string): ParsedCommand => ({
  type: "list_files",
  cmd: joined(words),
  path: under(directory, path),
})

const nlValued = ["-s", "-w", "-v", "-i", "-b"]
const headValued = ["-n", "-c", "--lines", "--bytes"]
const rgValued = ["-g", "--glob", "-t", "--type", "-A", "-B", "-C", "-m", "--max-count", "-T"]
const grepValued = ["-A", "-B", "-C", "-m", "--include", "--exclude", "--exclude-dir"]
const lsValued = [
  "-I",
  "-w",
  "--block-size",
  "--format",
  "--time-style",
  "--color",
  "--quoting-style",
]

/** With `-e PATTERN` that is the query, and every operand is a path. */
const grepOperands = (args: Words, valued: Words): Words => {
  const at = args.findIndex((arg) => arg === "-e" || arg === "--regexp")
  return at === -1
    ? operands(args, valued)
    : [...args.slice(at + 1, at + 2), ...operands(args.toSpliced(at, 2), valued)]
}

/** Summarizes one command: its words, its arguments, and the directory of a `cd` before it. */
type Summary = (words: Words, args: Words, directory: string | undefined) => ParsedCommand

const reading =
  (valued: Words = []): Summary =>
  (words, args) =>
    read(words, operands(args, valued))

const listing =
  (valued: Words = []): Summary =>
  (words, args, directory) =>
    listFiles(words, directory, operands(args, valued)[0])

const grepping =
  (valued: Words): Summary =>
  (words, args, directory) =>
    search(words, directory, grepOperands(args, valued))

const sed: Summary = (words, args) =>
  args[0] === "-n" && /^\d+(?:,\d+)?p$/.test(args[1] ?? "")
    ? read(words, args.slice(2))
    : unknown(joined(words))

const rg: Summary = (words, args, directory) =>
  (args.includes("--files") ? listing(rgValued) : grepping(rgValued))(words, args, directory)

const fd: Summary = (words, args, directory) => {
  const [query, path] = operands(args, ["-t", "--type", "-e", "--extension", "-E", "--exclude"])
  if (query === undefined) return listFiles(words, directory)
  return search(words, directory, path === undefined ? [query] : [query, path])
}

const find: Summary = (words, args, directory) => {
  const named = args.findIndex((arg) => /^-i?(?:name|path|regex)$/.test(arg))
  const [first] = args
  const path = first === undefined || /^[-!(]/.test(first) ? undefined : first
  const query = named === -1 ? undefined : args[named + 1]
  return query === undefined
    ? listFiles(words, directory, path)
    : search(words, directory, path === undefined ? [query] : [query, path])
}

const git: Summary = (words, [subcommand, ...args], directory) => {
  if (subcommand === "grep") return grepping(grepValued)(words, args, directory)
  return subcommand === "ls-files" ? listing()(words, args, directory) : unknown(joined(words))
}

const summaries: ReadonlyMap<string, Summary> = new Map([
  ["cat", reading()],
  ["bat", reading()],
  ["batcat", reading()],
  ["less", reading()],
  ["more", reading()],
  ["nl", reading(nlValued)],
  ["head", reading(headValued)],
  ["tail", reading(headValued)],
  ["sed", sed],
  ["ls", listing(lsValued)],
  ["eza", listing()],
  ["exa", listing()],
  ["tree", listing(["-L", "-I", "-P"])],
  ["rg", rg],
  ["grep", grepping(grepValued)],
  ["egrep", grepping(grepValued)],
  ["fgrep", grepping(grepValued)],
  ["fd", fd],
  ["find", find],
  ["git", git],
])

const summary = (words: Words, directory?: string): ParsedCommand => {
  const [program = "", ...args] = words
  return summaries.get(program)?.(words, args, directory) ?? unknown(joined(words))
}

const filters = new Set("wc tr cut sort uniq tee column awk yes printf".split(" "))

/** A filter without a file argument: it only shapes the output of other commands. */
const isFilter = ([program = "", ...args]: Words): boolean => {
  if (filters.has(program)) return true
  if (program === "head" || program === "tail") return operands(args, headValued).length === 0
  if (program === "nl") return operands(args, nlValued).length === 0
  return program === "sed" && args.length === 2 && args[0] === "-n"
}

const ofScript = (script: string): ReadonlyArray<ParsedCommand> => {
  const commands = plainCommands(script) ?? []
  let directory: string | undefined
  let rest = commands
  if (rest.length > 1 && rest[0]?.[0] === "cd") {
    directory = rest[0].length === 2 ? rest[0][1] : undefined
    rest = rest.slice(1)
  }
  if (rest.length > 1 && rest[0]?.[0] === "echo") rest = rest.slice(1)
  if (rest.length > 1) {
    const essential = rest.filter((words) => joined(words) !== "true" && !isFilter(words))
    if (essential.length > 0) rest = essential
  }
  const parsed = rest.map((words) => summary(words, directory))
  return parsed.length === 0 || (parsed.length > 1 && parsed.some((p) => p.type === "unknown"))
    ? [unknown(script)]
    : parsed
}

/** `parsed_cmd` of an argument list: at least one entry. */
export const parsedCommand = (argv: ReadonlyArray<string>): ReadonlyArray<ParsedCommand> => {
  const inShell = shellScript(argv)
  return inShell === undefined ? [summary(argv)] : ofScript(inShell.script)
}
