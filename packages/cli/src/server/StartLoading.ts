/**
 * What every command loads from the configuration at its start: the keys of the process, the settings of a conversation
 * whose client sets none, and the files that they name. A candidate configuration is loaded in the same way before it is
 * written.
 */
import { type ConversationSettings, SettingsError } from "@colloquy/core/ConversationSettings"
import type { ConfigFault } from "@colloquy/config/ConfigFault"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import type * as Resolve from "@colloquy/config/Resolve"
import type { OfflineScript } from "@colloquy/models/OfflineScript"
import { parseJson } from "@colloquy/protocol/Json"
import { readFile } from "@colloquy/store/node/ReadFile"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { resolve as resolvePath } from "node:path"
import { serverOptions, type ServerOptions } from "../args/ServerOptions.ts"
import type { TelemetryOptions } from "../args/TelemetryOptions.ts"
import { problemOf } from "../config/ConfigFile.ts"
import { type Locate, settingsOf } from "../config/LiveSettings.ts"

/** The loaded configuration. */
export interface Loaded {
  readonly options: ServerOptions
  /** The table `telemetry`; absent if there is none. */
  readonly telemetry?: TelemetryOptions
  /** The settings of a conversation whose client sets none. */
  readonly settings: ConversationSettings
  /** The responses of the offline model; absent for the built-in ones. */
  readonly script?: OfflineScript
  /** Set if no provider is configured: says so and what to configure. `settings` then has the default provider. */
  readonly missingProvider?: string
}

/** Largest script of the offline model. */
const maxScriptBytes = 16 * 1024 * 1024

const readJson = (path: string): Result.Result<unknown, string> => {
  try {
    const json = parseJson(new TextDecoder().decode(readFile(path, maxScriptBytes)))
    return Result.mapError(json, ({ message }) => `is ${message}`)
  } catch (error) {
    return Result.fail(problemOf(error))
  }
}

const scriptKey = "offline.script"

const readScript = Effect.fnUntraced(function* (path: string) {
  const { decode } = yield* Effect.promise(() => import("@colloquy/models/OfflineScript"))
  const failed = (problem: string) =>
    new SettingsError({ message: `${path}: ${problem}\nin \`${scriptKey}\`\n`, key: scriptKey })
  const json = yield* Effect.mapError(Effect.fromResult(readJson(path)), failed)
  return yield* Effect.mapError(Effect.fromResult(decode(json)), (error) => failed(error.message))
})

/** Decodes the table `telemetry`. Most configurations have none and load nothing of it. */
const readTelemetry = <E>(
  tree: ConfigTree.ConfigTree,
  read: (keys: Result.Result<TelemetryOptions, ConfigFault>) => Effect.Effect<TelemetryOptions, E>,
) =>
  Effect.flatMap(
    Effect.promise(() => import("../args/TelemetryOptions.ts")),
    ({ telemetryOptions }) => read(telemetryOptions(tree)),
  )

/** The fault as an error of the settings. */
export const errorOf = ({ key, message }: Pick<ConfigFault, "key" | "message">): SettingsError =>
  new SettingsError({ message, ...(key === undefined ? {} : { key }) })

/**
 * Loads the configuration. Fails with its first fault: a key that is not valid, or settings with which no conversation could
 * start.
 *
 * @param locate adds the place in the file to the error about a key; default: none is added
 */
export const load = Effect.fnUntraced(function* (
  source: Resolve.ResolveSource,
  locate: Locate = Effect.succeed,
): Effect.fn.Return<Loaded, SettingsError> {
  const { cwd, tree } = source
  const read = <A>(keys: Result.Result<A, ConfigFault>) =>
    Effect.catch(Effect.fromResult(keys), (fault) =>
      Effect.flatMap(locate(errorOf(fault)), Effect.fail),
    )
  const options = yield* read(serverOptions(tree))
  const telemetry =
    ConfigTree.get(tree, "telemetry") === undefined
      ? {}
      : { telemetry: yield* readTelemetry(tree, read) }
  // Faulty settings are reported now, not at every call. A missing provider is not an error yet: a login may follow.
  const created = yield* Effect.result(settingsOf(source, { requiresProvider: true }, locate))
  const settings = Result.isSuccess(created)
    ? created.success
    : yield* settingsOf(source, {}, locate)
  const path = options.offline?.script
  const script = path === undefined ? undefined : yield* readScript(resolvePath(cwd, path))
  return {
    options,
    ...telemetry,
    settings,
    ...(script === undefined ? {} : { script }),
    ...(Result.isSuccess(created) ? {} : { missingProvider: created.failure.message }),
  }
})
