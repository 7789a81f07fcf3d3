/**
 * The settings of each conversation, from `config.toml` as it is when the conversation begins: who edits it need not
 * restart the server. A file that makes no sense any more fails the conversations that begin then and nothing else.
 */
import {
  type ConversationSettings,
  SettingsError,
  type SettingsOverrides,
  SettingsResolver,
} from "@colloquy/core/ConversationSettings"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import * as Resolve from "@colloquy/config/Resolve"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as ConfigFile from "./ConfigFile.ts"
import * as InstructionsFile from "./InstructionsFile.ts"
import { warningsOfRecord } from "./UnknownKeys.ts"

export interface LiveSettingsOptions {
  /** Of `config.toml`. */
  readonly stateDirectory: string
  /** What `-c` and the options that set one key say. */
  readonly overrides: ReadonlyArray<ConfigTree.Override>
  /** The file as it was read last. */
  readonly known?: ConfigFile.ConfigFile
  /** Everything but the tree; evaluated for each conversation, since a login may have been stored meanwhile. */
  readonly source: () => Omit<Resolve.ResolveSource, "tree" | "flagKeys">
}

/** True where one of the two dotted paths is, or lies in, the other. */
const overlap = (a: string, b: string): boolean =>
  a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)

/** True for a key that something set after the file was read. */
const isOverridden = (key: string, paths: ReadonlyArray<string>): boolean =>
  paths.some((path) => overlap(key, path))

/** The error with the place in the file, where the fault is there. */
const located = (
  error: SettingsError,
  file: ConfigFile.ConfigFile,
  overridden: ReadonlyArray<string>,
): Effect.Effect<SettingsError> => {
  const { key, message } = error
  if (key === undefined || file.text === "" || isOverridden(key, overridden)) {
    return Effect.succeed(error)
  }
  return Effect.map(
    Effect.promise(() => import("./ConfigLines.ts")),
    ({ lineOf }) => {
      const line = lineOf(file.text, key)
      return line === undefined
        ? error
        : new SettingsError({ message: `${file.path}:${line}: ${message}`, key })
    },
  )
}

/** Whoever gave them runs with other settings than they think, and nothing else says so. */
const warnOfUnknown = Effect.fnUntraced(function* (config: SettingsOverrides["config"]) {
  if (config === undefined || Object.keys(config).length === 0) return
  for (const warning of warningsOfRecord(config)) yield* Effect.logWarning(warning)
})

export interface LiveSettings {
  /** The file as it is now. */
  readonly file: Effect.Effect<ConfigFile.ConfigFile, SettingsError>
  /** It with the `-c` arguments laid on it. */
  readonly tree: Effect.Effect<ConfigTree.ConfigTree, SettingsError>
  readonly resolve: (
    overrides: SettingsOverrides,
  ) => Effect.Effect<ConversationSettings, SettingsError>
  /** Adds the place in the file to what is wrong with one of its keys. */
  readonly locate: (error: SettingsError) => Effect.Effect<SettingsError>
}

const failure = (message: string) => new SettingsError({ message })

export const make = (options: LiveSettingsOptions): LiveSettings => {
  let { known } = options
  const args = options.overrides.map(({ path }) => path)
  const flagKeys = ConfigTree.flagKeys(options.overrides)

  const read = Effect.suspend(() => {
    const read = ConfigFile.read(options.stateDirectory, known)
    if (Result.isSuccess(read)) known = read.success
    return Effect.mapError(Effect.fromResult(read), failure)
  })
  const laid = ({ tree }: ConfigFile.ConfigFile) =>
    ConfigTree.applyOverrides(tree, options.overrides)

  return {
    file: read,
    tree: Effect.map(read, laid),
    resolve: (overrides) =>
      Effect.gen(function* () {
        const file = yield* read
        const source = { ...options.source(), tree: laid(file), flagKeys }
        const resolved = Resolve.resolve(source, overrides)
        if (Result.isSuccess(resolved)) {
          yield* warnOfUnknown(overrides.config)
          return yield* InstructionsFile.read(resolved.success)
        }
        const overridden = [
          ...args,
          ...Object.keys(ConfigTree.fromRecord(overrides.config ?? {})),
          ...(overrides.profile === undefined ? [] : ["profile"]),
        ]
        return yield* Effect.flatMap(located(resolved.failure, file, overridden), Effect.fail)
      }),
    locate: (error) => Effect.flatMap(Effect.orDie(read), (file) => located(error, file, args)),
  }
}

export const layer = (settings: LiveSettings): Layer.Layer<SettingsResolver> =>
  Layer.succeed(SettingsResolver, { resolve: settings.resolve })
