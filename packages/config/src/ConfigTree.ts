/**
 * A configuration as a tree of tables, before anyone asks what its keys mean: building it, editing it along a dotted
 * path, and reading the `key=value` of `-c` (§7.4). Never reads a file and never changes a tree in place.
 *
 * Every table has a null prototype, as the TOML parser makes them, so `__proto__` and `constructor` are names like
 * any other and reach nothing outside of the tree.
 */
import * as Toml from "effect/encoding/Toml"
import * as Result from "effect/Result"

/** Values are what TOML and JSON know: strings, numbers, booleans, dates, arrays and tables. */
export type ConfigTree = Readonly<Record<string, unknown>>

type Table = Record<string, unknown>

const emptyTable = (): Table => Object.create(null) as Table

export const empty: ConfigTree = emptyTable()

export const isEmpty = (tree: ConfigTree): boolean => Object.keys(tree).length === 0

/** True for a table, and for no array and no date. */
export const isTable = (value: unknown): value is ConfigTree => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** Clients write `null` for a member that is absent. */
const isAbsent = (value: unknown): boolean => value === null || value === undefined

/** A JSON value as a configuration value: objects become tables. In an array `null` stays, for the error that names it. */
const fromJson = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(fromJson)
  return isTable(value) ? fromRecord(value) : value
}

/** The tree of a plain record: a JSON object, or an object literal of an embedder. Members that are `null` are absent. */
export const fromRecord = (record: Readonly<Record<string, unknown>>): ConfigTree => {
  const table = emptyTable()
  for (const key of Object.keys(record)) {
    if (!isAbsent(record[key])) table[key] = fromJson(record[key])
  }
  return table
}

/** The value at a dotted path, `undefined` where there is none. */
export const get = (tree: ConfigTree, path: string): unknown => {
  let value: unknown = tree
  for (const key of path.split(".")) {
    if (!isTable(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

/**
 * The tree with `value` at a dotted path. Tables on the way are created, and whatever else stands there is
 * overwritten (§7.4). A path knows no quoting: every dot divides.
 */
export const set = (tree: ConfigTree, path: string, value: unknown): ConfigTree => {
  const keys = path.split(".")
  const at = (node: unknown, depth: number): unknown => {
    const key = keys[depth]
    if (key === undefined) return value
    const table = emptyTable()
    if (isTable(node)) Object.assign(table, node)
    table[key] = at(table[key], depth + 1)
    return table
  }
  return at(tree, 0) as ConfigTree
}

/** Deeper than any setting lies, and far from what would overflow the stack. */
const maxDepth = 64

const isDeeper = (value: unknown, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  return depth === 0 || Object.values(value).some((member) => isDeeper(member, depth - 1))
}

const deepFault = (key: string): string =>
  `nested more than ${maxDepth} levels deep\nin \`${key.slice(0, 80)}\`\n`

/** What is wrong with a member that lies deeper than the limit; its name is quoted up to 80 characters. */
const tooDeep = (path: string, value: unknown): string | undefined => {
  const depth = path.split(".", maxDepth + 1).length
  return depth > maxDepth || isDeeper(value, maxDepth - depth) ? deepFault(path) : undefined
}

/** Lays the members of a JSON `config` object on the tree, each a dotted path, in order (§7.4); or tells a fault. */
export const applyRecord = (
  tree: ConfigTree,
  record: Readonly<Record<string, unknown>>,
): Result.Result<ConfigTree, string> => {
  let edited = tree
  for (const path of Object.keys(record)) {
    if (isAbsent(record[path])) continue
    const fault = tooDeep(path, record[path])
    if (fault !== undefined) return Result.fail(fault)
    edited = set(edited, path, fromJson(record[path]))
  }
  return Result.succeed(edited)
}

/** One `-c key=value`, read, or a key that an option of its own sets. */
export interface Override {
  readonly path: string
  readonly value: unknown
  /** That option, such as `--model`; it wins over a profile. */
  readonly flag?: string
}

/** The keys of the top level that options of their own set. */
export const flagKeys = (overrides: ReadonlyArray<Override>): ReadonlySet<string> =>
  new Set(overrides.flatMap(({ flag, path }) => (flag === undefined ? [] : [path])))

const isQuote = (character: string | undefined): boolean => character === '"' || character === "'"

/** A TOML value; what is none is a string, freed of the quotes around it (§7.4). */
export const parseValue = (text: string): unknown => {
  const parsed = Toml.parse(`x = ${text}`)
  // A line break could smuggle in more keys; then the text is no single value.
  if (Result.isSuccess(parsed) && Object.keys(parsed.success).length === 1) {
    return parsed.success["x"]
  }
  const bare = text.trim()
  let start = 0
  let end = bare.length
  while (start < end && isQuote(bare[start])) start++
  while (end > start && isQuote(bare[end - 1])) end--
  return bare.slice(start, end)
}

/** Reads one `-c` argument, divided at its first `=`; the errors are those of §7.4. */
export const parseOverride = (argument: string): Result.Result<Override, string> => {
  const equals = argument.indexOf("=")
  if (equals === -1) return Result.fail(`Invalid override (missing '='): ${argument}`)
  const path = argument.slice(0, equals).trim()
  if (path === "") return Result.fail(`Empty key in override: ${argument}`)
  const value = parseValue(argument.slice(equals + 1))
  const fault = tooDeep(path, value)
  return fault === undefined ? Result.succeed({ path, value }) : Result.fail(fault)
}

/** Reads `-c` arguments, in order; the first bad one is the error. */
export const parseOverrides = (
  args: ReadonlyArray<string>,
): Result.Result<ReadonlyArray<Override>, string> => {
  const overrides: Array<Override> = []
  for (const argument of args) {
    const override = parseOverride(argument)
    if (Result.isFailure(override)) return Result.fail(override.failure)
    overrides.push(override.success)
  }
  return Result.succeed(overrides)
}

/** Lays them on the tree, in order: the later ones win. */
export const applyOverrides = (tree: ConfigTree, overrides: ReadonlyArray<Override>): ConfigTree =>
  overrides.reduce((edited, { path, value }) => set(edited, path, value), tree)

/** A dotted path of a file, in UTF-16 units. Names of directories are keys of `projects`; no real path comes near. */
const maxPathLength = 8192

/** What is wrong with the first value that lies too deep, or whose path is too long; undefined: nothing is. */
const sizeFault = (tree: ConfigTree): string | undefined => {
  const open: Array<readonly [table: object, path: string, depth: number]> = [[tree, "", 0]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [table, path, depth] = next
    for (const [name, value] of Object.entries(table)) {
      const at = path === "" ? name : `${path}.${name}`
      if (at.length > maxPathLength) {
        return `a key is longer than ${maxPathLength} characters\nin \`${at.slice(0, 80)}\`\n`
      }
      if (depth >= maxDepth) return deepFault(at)
      if (typeof value === "object" && value !== null && !(value instanceof Date)) {
        open.push([value, at, depth + 1])
      }
    }
  }
  return undefined
}

/** The parser names keys in full. */
const shortened = (message: string): string =>
  message.length <= 512 ? message : `${message.slice(0, 256)}…${message.slice(-256)}`

// The parser quotes what it could not read, which may be a key somebody forgot to put in quotes.
const quoted = /^(Invalid value|Invalid date-time|Integer out of range) '.*' at line /s

/** The tree of a TOML document, or what is wrong with it, with line and column but without its text. */
export const parseToml = (text: string): Result.Result<ConfigTree, string> => {
  const parsed = Toml.parse(text)
  if (Result.isFailure(parsed)) {
    const message = parsed.failure.message.replace(quoted, "$1 at line ")
    // The parser goes down arrays and inline tables by recursion, and says so when it cannot go on.
    return Result.fail(
      message.startsWith("Maximum call stack")
        ? `TOML parse error: nested more than ${maxDepth} levels deep`
        : `TOML parse error: ${shortened(message)}`,
    )
  }
  const fault = sizeFault(parsed.success)
  return fault === undefined ? Result.succeed(parsed.success) : Result.fail(fault)
}
