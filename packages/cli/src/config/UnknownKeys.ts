/** Keys of the configuration that nobody reads: ignored, since they may be meant for the original, but not in silence. */
import { unknownKeys } from "@colloquy/core/settings/ConfigKeys"
import { Config } from "@colloquy/core/settings/ConfigSchema"
import * as ConfigTree from "@colloquy/core/settings/ConfigTree"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ServerOptions } from "../ServerOptions.ts"
import type { ConfigFile } from "./ConfigFile.ts"

/** Everything that `config.toml` and `-c` may hold. */
export const AllKeys = Schema.Struct({ ...Config.fields, ...ServerOptions.fields })

/** A file for another program has hundreds; the first tell what is the matter. */
const maxWarnings = 20

interface Unknown {
  readonly path: string
  readonly near?: string
}

const told = (at: string, { near }: Unknown): string =>
  `${at}: there is no such key and it is ignored${near === undefined ? "" : `, did you mean \`${near}\`?`}`

const ofOverride = (override: ConfigTree.Override): ReadonlyArray<string> =>
  unknownKeys(AllKeys, ConfigTree.applyOverrides(ConfigTree.empty, [override])).map((unknown) =>
    told(`-c ${unknown.path}`, unknown),
  )

const ofFile = (file: ConfigFile): Effect.Effect<ReadonlyArray<string>> => {
  const unknown = unknownKeys(AllKeys, file.tree)
  if (unknown.length === 0) return Effect.succeed([])
  return Effect.map(
    Effect.promise(() => import("./ConfigLines.ts")),
    ({ linesOf }) => {
      const lines = linesOf(file.text)
      return unknown.map((one) =>
        told(`${file.path}:${lines.get(one.path) ?? 1}: \`${one.path}\``, one),
      )
    },
  )
}

const limited = (all: ReadonlyArray<string>): ReadonlyArray<string> => {
  const more = all.length - maxWarnings
  return more <= 0 ? all : [...all.slice(0, maxWarnings), `and ${more} more keys that are ignored`]
}

/** One line each. */
export const warningsOf = (
  file: ConfigFile,
  overrides: ReadonlyArray<ConfigTree.Override>,
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(ofFile(file), (found) => limited([...found, ...overrides.flatMap(ofOverride)]))

/** One line each of what a client's `config` holds for one conversation. */
export const warningsOfRecord = (
  config: Readonly<Record<string, unknown>>,
): ReadonlyArray<string> => {
  const tree = ConfigTree.applyRecord(ConfigTree.empty, config)
  if (Result.isFailure(tree)) return []
  return limited(
    unknownKeys(AllKeys, tree.success).map((one) =>
      told(`config of a conversation: \`${one.path}\``, one),
    ),
  )
}
