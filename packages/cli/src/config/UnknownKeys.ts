/**
 * Finds keys of the configuration that have no effect and warns about them: unknown ones, which may be meant for the
 * original, and those that only `config.toml` may set.
 */
import { unknownKeys as allUnknownKeys } from "@colloquy/config/ConfigKeys"
import { Config } from "@colloquy/config/ConfigSchema"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { meantRoutingKey } from "@colloquy/config/RoutingKeys"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ServerOptions } from "../args/ServerOptions.ts"
import type { ConfigFile } from "./ConfigFile.ts"
import { ignoredWarning, isFileOnly } from "./FileOnlyKeys.ts"

/** True if each key is one of the two schemas, at any depth, as in most files. */
const isKnown = (tree: ConfigTree.ConfigTree): boolean => {
  const entries = Object.entries(tree)
  const isConfig = ([name]: readonly [string, unknown]) => Object.hasOwn(Config.fields, name)
  const config = Object.fromEntries(entries.filter(isConfig))
  const options = Object.fromEntries(entries.filter((entry) => !isConfig(entry)))
  return (
    allUnknownKeys(Config, config).length === 0 &&
    (ConfigTree.isEmpty(options) || allUnknownKeys(ServerOptions, options).length === 0)
  )
}

/** Most warnings: a file of another program has hundreds of unknown keys, and the first ones show the problem. */
const maxWarnings = 20

interface Unknown {
  readonly path: string
  readonly near?: string
}

/** True for a misspelt key that is reported as an error elsewhere. */
const isError = ({ near, path }: Unknown): boolean => {
  if (near !== undefined && /^(model_providers|login|cluster|telemetry)\./.test(near)) return true
  const names = path.split(".")
  const key = names.length === 1 || names[0] === "profiles" ? names.at(-1) : undefined
  return key !== undefined && meantRoutingKey(key) !== undefined
}

const unknownKeys = (tree: ConfigTree.ConfigTree): Effect.Effect<ReadonlyArray<Unknown>> =>
  isKnown(tree)
    ? Effect.succeed([])
    : Effect.map(
        Effect.promise(() => import("./AllKeys.ts")),
        ({ allKeys }) => allUnknownKeys(allKeys(), tree).filter((one) => !isError(one)),
      )

const warningOf = (at: string, { near }: Unknown): string =>
  `${at}: unknown key, ignored${near === undefined ? "" : `; did you mean \`${near}\`?`}`

/** The first warnings, and the number of further keys. */
interface Warnings {
  readonly lines: ReadonlyArray<string>
  readonly more: number
}

const warningsOfKeys = (
  unknown: ReadonlyArray<Unknown>,
  at: (one: Unknown) => string,
): Warnings => ({
  lines: unknown.slice(0, maxWarnings).map((one) => warningOf(at(one), one)),
  more: Math.max(0, unknown.length - maxWarnings),
})

const ofOverride = (override: ConfigTree.Override): Effect.Effect<Warnings> => {
  if (isFileOnly(override.path)) {
    return Effect.succeed({ lines: [ignoredWarning(`-c ${override.path}`)], more: 0 })
  }
  return Effect.map(
    unknownKeys(ConfigTree.applyOverrides(ConfigTree.empty, [override])),
    (unknown) => warningsOfKeys(unknown, ({ path }) => `-c ${path}`),
  )
}

const ofFile = (file: ConfigFile): Effect.Effect<Warnings> =>
  Effect.flatMap(unknownKeys(file.tree), (unknown) => {
    if (unknown.length === 0) return Effect.succeed({ lines: [], more: 0 })
    return Effect.map(
      Effect.promise(() => import("./ConfigLines.ts")),
      ({ linesOf }) => {
        const lines = linesOf(file.text)
        return warningsOfKeys(
          unknown,
          ({ path }) => `${file.path}:${lines.get(path) ?? 1}: \`${path}\``,
        )
      },
    )
  })

const limited = (all: ReadonlyArray<Warnings>): ReadonlyArray<string> => {
  const lines = all.flatMap((one) => one.lines)
  const more = all.reduce((sum, one) => sum + one.more, 0) + Math.max(0, lines.length - maxWarnings)
  return more === 0 ? lines : [...lines.slice(0, maxWarnings), `and ${more} more keys were ignored`]
}

/** The warnings about the file and the overrides, one line each. */
export const warningsOf = (
  file: ConfigFile,
  overrides: ReadonlyArray<ConfigTree.Override>,
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.flatMap(ofFile(file), (found) =>
    Effect.map(Effect.forEach(overrides, ofOverride), (others) => limited([found, ...others])),
  )

/** The warnings about the `config` that a client sent for one conversation, one line each. */
export const warningsOfRecord = (
  config: Readonly<Record<string, unknown>>,
): Effect.Effect<ReadonlyArray<string>> => {
  const tree = ConfigTree.applyRecord(ConfigTree.empty, config)
  if (Result.isFailure(tree)) return Effect.succeed([])
  const at = (path: string) => `conversation config: \`${path}\``
  const ignored = Object.keys(tree.success).filter(isFileOnly)
  return Effect.map(unknownKeys(tree.success), (unknown) =>
    limited([
      { lines: ignored.map((path) => ignoredWarning(at(path))), more: 0 },
      warningsOfKeys(unknown, ({ path }) => at(path)),
    ]),
  )
}
