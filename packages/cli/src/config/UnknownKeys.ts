/**
 * Keys of the configuration that have no effect where they are: unknown ones, which may be meant for the original, and those
 * that only `config.toml` may set. They are ignored with a warning.
 */
import { unknownKeys as allUnknownKeys } from "@colloquy/config/ConfigKeys"
import { Config } from "@colloquy/config/ConfigSchema"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { meantRoutingKey } from "@colloquy/config/RoutingKeys"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ServerOptions } from "../args/ServerOptions.ts"
import type { ConfigFile } from "./ConfigFile.ts"
import { ignoredWarning, isFileOnly } from "./FileOnlyKeys.ts"

/** Everything that `config.toml` and `-c` may hold. */
export const AllKeys = Schema.Struct({ ...Config.fields, ...ServerOptions.fields })

/** A file for another program has hundreds; the first tell what is the matter. */
const maxWarnings = 20

interface Unknown {
  readonly path: string
  readonly near?: string
}

/** True for a misspelt key that is an error and therefore not ignored. */
const isError = ({ near, path }: Unknown): boolean => {
  if (near !== undefined && /^(model_providers|login)\./.test(near)) return true
  const names = path.split(".")
  const key = names.length === 1 || names[0] === "profiles" ? names.at(-1) : undefined
  return key !== undefined && meantRoutingKey(key) !== undefined
}

const unknownKeys = (schema: typeof AllKeys, tree: ConfigTree.ConfigTree): ReadonlyArray<Unknown> =>
  allUnknownKeys(schema, tree).filter((one) => !isError(one))

const told = (at: string, { near }: Unknown): string =>
  `${at}: there is no such key and it is ignored${near === undefined ? "" : `, did you mean \`${near}\`?`}`

/** The first lines, and how many keys are left out. */
interface Told {
  readonly lines: ReadonlyArray<string>
  readonly more: number
}

const toldOf = (unknown: ReadonlyArray<Unknown>, at: (one: Unknown) => string): Told => ({
  lines: unknown.slice(0, maxWarnings).map((one) => told(at(one), one)),
  more: Math.max(0, unknown.length - maxWarnings),
})

const ofOverride = (override: ConfigTree.Override): Told => {
  if (isFileOnly(override.path)) return { lines: [ignoredWarning(`-c ${override.path}`)], more: 0 }
  return toldOf(
    unknownKeys(AllKeys, ConfigTree.applyOverrides(ConfigTree.empty, [override])),
    ({ path }) => `-c ${path}`,
  )
}

const ofFile = (file: ConfigFile): Effect.Effect<Told> => {
  const unknown = unknownKeys(AllKeys, file.tree)
  if (unknown.length === 0) return Effect.succeed({ lines: [], more: 0 })
  return Effect.map(
    Effect.promise(() => import("./ConfigLines.ts")),
    ({ linesOf }) => {
      const lines = linesOf(file.text)
      return toldOf(unknown, ({ path }) => `${file.path}:${lines.get(path) ?? 1}: \`${path}\``)
    },
  )
}

const limited = (all: ReadonlyArray<Told>): ReadonlyArray<string> => {
  const lines = all.flatMap((one) => one.lines)
  const more = all.reduce((sum, one) => sum + one.more, 0) + Math.max(0, lines.length - maxWarnings)
  return more === 0
    ? lines
    : [...lines.slice(0, maxWarnings), `and ${more} more keys that are ignored`]
}

/** One line each. */
export const warningsOf = (
  file: ConfigFile,
  overrides: ReadonlyArray<ConfigTree.Override>,
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(ofFile(file), (found) => limited([found, ...overrides.map(ofOverride)]))

/** One line each of what a client's `config` holds for one conversation. */
export const warningsOfRecord = (
  config: Readonly<Record<string, unknown>>,
): ReadonlyArray<string> => {
  const tree = ConfigTree.applyRecord(ConfigTree.empty, config)
  if (Result.isFailure(tree)) return []
  const unknown = unknownKeys(AllKeys, tree.success)
  const at = (path: string) => `config of a conversation: \`${path}\``
  const ignored = Object.keys(tree.success).filter(isFileOnly)
  return limited([
    { lines: ignored.map((path) => ignoredWarning(at(path))), more: 0 },
    toldOf(unknown, ({ path }) => at(path)),
  ])
}
