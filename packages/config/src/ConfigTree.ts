/**
 * A configuration as a tree of tables, independent of what its keys mean: building it, editing it
 * along a dotted path, and reading the `key=value` of the option `-c`. Never reads a file and never
 * changes a tree in place.
 *
 * Every table has a null prototype, as the TOML parser makes them, so that `__proto__` and
 * `constructor` are names like any other and do not affect anything outside the tree.
 */
import * as Toml from "effect/encoding/Toml"
import * as Result from "effect/Result"

/** Values are those of TOML and JSON: strings, numbers, booleans, dates, arrays and tables. */
export type ConfigTree = Readonly<Record<string, unknown>>

type Table = Record<string, unknown>

const emptyTable = (): Table => Object.create(null) as Table

/** A tree without keys. */
export const empty: ConfigTree = emptyTable()

/** True for a tree without keys. */
export const isEmpty = (tree: ConfigTree): boolean => Object.keys(tree).length === 0

/** True for a table; false for an array or a date. */
export const isTable = (value: unknown): value is ConfigTree => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** Clients write `null` for an absent member. */
const isAbsent = (value: unknown): boolean => value === null || value === undefined

/**
 * Converts a JSON value: objects become tables. `null` in an array is kept, so that decoding fails
 * with an error that names the array.
 */
const fromJson = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(fromJson)
  return isTable(value) ? fromRecord(value) : value
}

/**
 * The tree of a plain record: a JSON object, or an object literal of an embedding program. Members
 * that are `null` are absent.
 */
export const fromRecord = (record: Readonly<Record<string, unknown>>): ConfigTree => {
  const table = emptyTable()
  for (const key of Object.keys(record)) {
    if (!isAbsent(record[key])) table[key] = fromJson(record[key])
  }
  return table
}

/** The value at a dotted path; `undefined` when there is none. */
export const get = (tree: ConfigTree, path: string): unknown => {
  let value: unknown = tree
  for (const key of path.split(".")) {
    if (!isTable(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

/**
 * The tree with `value` at a dotted path. Tables on the way are created; any other value on the way
 * is replaced by a table. Paths have no quoting: every dot separates keys.
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

/** No setting is nested as deeply, and the stack does not overflow at this depth. */
const maxDepth = 64

const isDeeper = (value: unknown, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  return depth === 0 || Object.values(value).some((member) => isDeeper(member, depth - 1))
}

const deepFault = (key: string): string =>
  `nested more than ${maxDepth} levels deep\nin \`${key.slice(0, 80)}\`\n`

/**
 * The fault of a member that is nested more deeply than the limit. Quotes at most 80 characters of
 * its name.
 */
const tooDeep = (path: string, value: unknown): string | undefined => {
  const depth = path.split(".", maxDepth + 1).length
  return depth > maxDepth || isDeeper(value, maxDepth - depth) ? deepFault(path) : undefined
}

/**
 * Sets the members of a JSON `config` object in the tree, each a dotted path, in order. Fails with
 * the message of a fault.
 */
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

/** One `-c key=value`, or a key that another command-line option sets. */
export interface Override {
  readonly path: string
  readonly value: unknown
  /** That other option, such as `--model`. Its value wins over a profile. */
  readonly flag?: string
}

/** The keys that command-line options other than `-c` set. */
export const flagKeys = (overrides: ReadonlyArray<Override>): ReadonlySet<string> =>
  new Set(overrides.flatMap(({ flag, path }) => (flag === undefined ? [] : [path])))

const isQuote = (character: string | undefined): boolean => character === '"' || character === "'"

/**
 * Parses a TOML value. A text that is not one is a string; quotes around it are removed, as the
 * original does.
 */
export const parseValue = (text: string): unknown => {
  const parsed = Toml.parse(`x = ${text}`)
  // A line break could add more keys; then the text is not a single value.
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

/**
 * Parses one `-c` argument, which is divided at its first `=`. The error messages are those of the
 * original.
 */
export const parseOverride = (argument: string): Result.Result<Override, string> => {
  const equals = argument.indexOf("=")
  if (equals === -1) return Result.fail(`Invalid override (missing '='): ${argument}`)
  const path = argument.slice(0, equals).trim()
  if (path === "") return Result.fail(`Empty key in override: ${argument}`)
  const value = parseValue(argument.slice(equals + 1))
  const fault = tooDeep(path, value)
  return fault === undefined ? Result.succeed({ path, value }) : Result.fail(fault)
}

/** Parses `-c` arguments, in order. Fails with the message of the first invalid one. */
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

/** Sets the values of overrides in the tree, in order: later ones win. */
export const applyOverrides = (tree: ConfigTree, overrides: ReadonlyArray<Override>): ConfigTree =>
  overrides.reduce((edited, { path, value }) => set(edited, path, value), tree)

/**
 * Longest dotted path in a file, in UTF-16 code units. Directory names are keys of `projects`; no
 * real path is nearly as long.
 */
const maxPathLength = 8192

/**
 * The message for the first value that is nested too deeply or whose path is too long; undefined
 * when there is none.
 */
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

/** The parser's messages quote keys in full, however long they are. */
const shortened = (message: string): string =>
  message.length <= 512 ? message : `${message.slice(0, 256)}…${message.slice(-256)}`

// The parser quotes what it could not read, which may be an API key without quotation marks.
const quoted = /^(Invalid value|Invalid date-time|Integer out of range) '.*' at line /s

/** Parses a TOML document. Fails with a message that has line and column but not the text. */
export const parseToml = (text: string): Result.Result<ConfigTree, string> => {
  const parsed = Toml.parse(text)
  if (Result.isFailure(parsed)) {
    const message = parsed.failure.message.replace(quoted, "$1 at line ")
    // The parser recurses into arrays and inline tables; this is its message when the stack
    // overflows.
    return Result.fail(
      message.startsWith("Maximum call stack")
        ? `TOML parse error: nested more than ${maxDepth} levels deep`
        : `TOML parse error: ${shortened(message)}`,
    )
  }
  const fault = sizeFault(parsed.success)
  return fault === undefined ? Result.succeed(parsed.success) : Result.fail(fault)
}
