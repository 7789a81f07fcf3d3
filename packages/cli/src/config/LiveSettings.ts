/**
 * The settings of each conversation, from `config.toml` as it is when the conversation is created, so that an edit needs no
 * restart of the server. A file that has become invalid fails only the creation of conversations.
 */
import {
  type ConversationSettings,
  SettingsError,
  type SettingsOverrides,
  SettingsResolver,
} from "@colloquy/core/ConversationSettings"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import * as Resolve from "@colloquy/config/Resolve"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as ConfigFile from "./ConfigFile.ts"
import { warningsOfRecord } from "./UnknownKeys.ts"

/** Where settings come from. */
export interface LiveSettingsOptions {
  /** Directory of `config.toml`. */
  readonly stateDirectory: string
  /** The keys that `-c` and options such as `--model` set. */
  readonly overrides: ReadonlyArray<ConfigTree.Override>
  /** The file as the startup read it. */
  readonly known?: ConfigFile.ConfigFile
  /** The other sources. Evaluated for each conversation, since a login may have been stored meanwhile. */
  readonly source: () => Omit<Resolve.ResolveSource, "tree" | "flagKeys">
}

/** True if one of the two dotted paths contains or equals the other. */
const overlap = (a: string, b: string): boolean =>
  a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)

/** True for a key whose value does not come from the file. */
const isOverridden = (key: string, paths: ReadonlyArray<string>): boolean =>
  paths.some((path) => overlap(key, path))

/** The error with its line, if the faulty value comes from the file. */
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

/** The settings with the text of their instructions file, if they name one. */
const withInstructions = (
  settings: ConversationSettings,
): Effect.Effect<ConversationSettings, SettingsError> =>
  settings.baseInstructionsFile === undefined
    ? Effect.succeed(settings)
    : Effect.flatMap(
        Effect.promise(() => import("./InstructionsFile.ts")),
        ({ read }) => read(settings),
      )

/** Adds the place in the file to an error about a key. */
export type Locate = (error: SettingsError) => Effect.Effect<SettingsError>

/** The settings of one conversation. Fails with the first fault; one of a key is passed to `locate` before. */
export const settingsOf = (
  source: Resolve.ResolveSource,
  overrides: SettingsOverrides,
  locate: Locate,
): Effect.Effect<ConversationSettings, SettingsError> => {
  const resolved = Resolve.resolve(source, overrides)
  return Result.isSuccess(resolved)
    ? withInstructions(resolved.success)
    : Effect.flatMap(locate(resolved.failure), Effect.fail)
}

/** Warns about unknown keys: they have no effect, and the client gets no other sign of it. */
const warnOfUnknown = Effect.fnUntraced(function* (config: SettingsOverrides["config"]) {
  if (config === undefined || Object.keys(config).length === 0) return
  for (const warning of yield* warningsOfRecord(config)) yield* Effect.logWarning(warning)
})

/** Access to the current settings. */
export interface LiveSettings {
  /** The file as it is now. */
  readonly file: Effect.Effect<ConfigFile.ConfigFile, SettingsError>
  /** The tree of the file with the overrides applied. */
  readonly tree: Effect.Effect<ConfigTree.ConfigTree, SettingsError>
  /** The settings of a new conversation. Fails with an error that names the key and, if possible, the line. */
  readonly resolve: (
    overrides: SettingsOverrides,
  ) => Effect.Effect<ConversationSettings, SettingsError>
  /** Adds the line in the file to an error about a key. */
  readonly locate: Locate
}

const failure = (message: string) => new SettingsError({ message })

/** Creates the access. Reads nothing yet. */
export const make = (options: LiveSettingsOptions): LiveSettings => {
  let { known } = options
  const args = options.overrides.map(({ path }) => path)
  const flagKeys = ConfigTree.flagKeys(options.overrides)

  const read = Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    const read = ConfigFile.read(options.stateDirectory, known, nowMs)
    if (Result.isSuccess(read)) known = read.success
    return Effect.mapError(Effect.fromResult(read), failure)
  })
  const withOverrides = ({ tree }: ConfigFile.ConfigFile) =>
    ConfigTree.applyOverrides(tree, options.overrides)

  return {
    file: read,
    tree: Effect.map(read, withOverrides),
    resolve: (overrides) =>
      Effect.gen(function* () {
        const file = yield* read
        const source = { ...options.source(), tree: withOverrides(file), flagKeys }
        const overridden = [
          ...args,
          ...Object.keys(ConfigTree.fromRecord(overrides.config ?? {})),
          ...(overrides.profile === undefined ? [] : ["profile"]),
          // Another model of a client does not hide that the one in the file is empty.
          ...(overrides.model?.trim() === "" ? ["model"] : []),
        ]
        const settings = yield* settingsOf(source, overrides, (error) =>
          located(error, file, overridden),
        )
        yield* warnOfUnknown(overrides.config)
        return settings
      }),
    locate: (error) => Effect.flatMap(Effect.orDie(read), (file) => located(error, file, args)),
  }
}

/** Provides the settings to the core. */
export const layer = (settings: LiveSettings): Layer.Layer<SettingsResolver> =>
  Layer.succeed(SettingsResolver, { resolve: settings.resolve })
