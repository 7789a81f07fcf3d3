/**
 * Changes keys of `config.toml` and nothing else: the comments, order and layout of the rest are preserved. The new text is
 * parsed and compared before it is written, and the file is replaced atomically, so that no program reads a partial file.
 */
import { SettingsError } from "@colloquy/core/ConversationSettings"
import { describeFound, faultAt } from "@colloquy/config/ConfigFault"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { patch, parse } from "@decimalturn/toml-patch"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import { replace } from "../machine/AtomicFile.ts"
import * as ConfigFile from "./ConfigFile.ts"

/** A key as its names, the outermost first, and its new value; undefined removes it. */
export interface Edit {
  readonly path: ReadonlyArray<string>
  readonly value: unknown
}

type Table = Record<string, unknown>

const isTable = (u: unknown): u is Table =>
  typeof u === "object" && u !== null && !Array.isArray(u) && !(u instanceof Date)

const tableAt = (tree: Table, path: ReadonlyArray<string>): Table | undefined => {
  let table: unknown = tree
  for (const name of path) {
    table = isTable(table) && Object.hasOwn(table, name) ? table[name] : undefined
  }
  return isTable(table) ? table : undefined
}

/** Edits a tree in place. Adds the tables that a value needs; they are absent, or tables. */
const edit = (tree: Table, { path, value }: Edit): void => {
  const names = path.slice(0, -1)
  const last = path.at(-1) ?? ""
  if (value === undefined) {
    const table = tableAt(tree, names)
    if (table !== undefined) delete table[last]
    return
  }
  let table = tree
  for (const name of names) {
    const inner = tableAt(table, [name]) ?? {}
    table[name] = inner
    table = inner
  }
  table[last] = value
}

const parses = (text: string): boolean => {
  try {
    parse(text)
    return true
  } catch {
    return false
  }
}

/** The fault of an edit below a value that is no table; undefined if it can be made. */
const parentFault = (tree: ConfigTree.ConfigTree, { path, value }: Edit): string | undefined => {
  let table: unknown = tree
  // A key that is not there need not be removed.
  const parents = value === undefined ? [] : path.slice(0, -1)
  for (const [depth, name] of parents.entries()) {
    if (!isTable(table) || !Object.hasOwn(table, name)) return undefined
    table = table[name]
    if (isTable(table)) continue
    const problem = `invalid type: ${describeFound(table)}, expected a map`
    return faultAt(path.slice(0, depth + 1), problem).message.trim()
  }
  return undefined
}

const ended = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`)

/** Appends the tables that the edits need to the text, because the patching would write them as dotted keys. */
const withTables = (text: string, edits: ReadonlyArray<Edit>): string => {
  let grown = text
  for (const { path, value } of edits) {
    const names = path.slice(0, -1)
    if (value === undefined || tableAt(parse(grown) as Table, names) !== undefined) continue
    const header = names.map((name) => JSON.stringify(name)).join(".")
    const next = `${ended(grown)}${grown === "" ? "" : "\n"}[${header}]\n`
    // An inline table cannot be continued outside of it; the edit adds to it.
    if (parses(next)) grown = next
  }
  return grown
}

const fail = (message: string) => new SettingsError({ message })

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Largest text that is edited, in UTF-16 units. The time grows faster than the size; this takes at most a second. */
const maxEditLength = 64 * 1024

/** Applies the edits to the text. Fails if the value of any other key would change. */
export const edited = (
  text: string,
  edits: ReadonlyArray<Edit>,
): Result.Result<string, SettingsError> => {
  if (text.length > maxEditLength) {
    return Result.fail(
      fail(`cannot be edited: has ${text.length} characters, expected at most ${maxEditLength}`),
    )
  }
  const before = ConfigTree.parseToml(text)
  if (Result.isFailure(before)) return Result.fail(fail(before.failure))
  for (const one of edits) {
    const fault = parentFault(before.success, one)
    if (fault !== undefined) return Result.fail(fail(fault))
  }
  try {
    const grown = withTables(text, edits)
    const wanted = parse(grown) as Table
    for (const one of edits) edit(wanted, one)
    const next = ended(patch(grown, wanted))
    const after = ConfigTree.parseToml(next)
    const expected = Result.getOrThrow(ConfigTree.parseToml(grown)) as Table
    for (const one of edits) edit(expected, one)
    const good = Result.isSuccess(after) && same(sorted(after.success), sorted(expected))
    return good
      ? Result.succeed(next)
      : Result.fail(fail("cannot be edited without changing other keys"))
  } catch (error) {
    return Result.fail(fail(`cannot be edited: ${error instanceof Error ? error.name : "error"}`))
  }
}

/** The value with all keys sorted: the order of keys has no meaning. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isTable(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, sorted(value[name])]),
  )
}

/**
 * Replaces the text of the file; resolves when the new one is on disk. Fails, and leaves it unchanged, when another program
 * has changed it since it was read.
 */
export const replaceText = Effect.fnUntraced(function* (
  stateDirectory: string,
  file: ConfigFile.ConfigFile,
  text: string,
): Effect.fn.Return<void, SettingsError> {
  if (text === file.text) return
  const now = yield* Effect.mapError(Effect.fromResult(ConfigFile.read(stateDirectory)), fail)
  if (now.text !== file.text) return yield* fail(`${file.path}: was changed meanwhile`)
  const suffix = String(yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER))
  yield* Effect.try({
    try: () => replace(file.path, text, { suffix }),
    catch: (error) => fail(`${file.path}: cannot be written (${ConfigFile.codeOf(error)})`),
  })
})

/** Edits the file; resolves when the new one is on disk. On failure the old one is unchanged. */
export const write = Effect.fnUntraced(function* (
  stateDirectory: string,
  edits: ReadonlyArray<Edit>,
): Effect.fn.Return<void, SettingsError> {
  const file = yield* Effect.mapError(Effect.fromResult(ConfigFile.read(stateDirectory)), fail)
  const text = yield* Effect.mapError(Effect.fromResult(edited(file.text, edits)), ({ message }) =>
    fail(`${file.path}: ${message}`),
  )
  yield* replaceText(stateDirectory, file, text)
})
