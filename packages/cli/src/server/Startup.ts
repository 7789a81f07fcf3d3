/**
 * Resolves the command line, the environment and `config.toml` into what the commands need. An invalid configuration ends
 * the process here, before anything is served, with one line that names the problem and its place.
 */
import { type ConversationSettings, SettingsError } from "@colloquy/core/ConversationSettings"
import type { ConfigFault } from "@colloquy/config/ConfigFault"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import type * as Resolve from "@colloquy/config/Resolve"
import { oneLine } from "@colloquy/protocol/text/Shortened"
import { offlineProvider, openaiProvider, ossProvider } from "@colloquy/models/Providers"
import type { OfflineScript } from "@colloquy/models/OfflineScript"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { resolve as resolvePath } from "node:path"
import type { Launch } from "../args/Args.ts"
import { excludedLogin } from "../auth/ExcludedLogin.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import { isFileOnly } from "../config/FileOnlyKeys.ts"
import * as LiveSettings from "../config/LiveSettings.ts"
import { warningsOf } from "../config/UnknownKeys.ts"
import { errorLine } from "../log/ErrorLine.ts"
import { type Environment, isLoggedIn, originalLogin } from "../machine/Environment.ts"
import { serverOptions, type ServerOptions } from "../args/ServerOptions.ts"
import type { TelemetryOptions } from "../args/TelemetryOptions.ts"
import { statSync } from "./StartFiles.ts"

/** What every command loads from the configuration. */
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

/** What a command needs to start. */
export interface Startup extends Loaded {
  /** The configuration as it was at the start. */
  readonly source: Resolve.ResolveSource
  /** The configuration as it is at each use. */
  readonly live: LiveSettings.LiveSettings
  /** The keys that `-c` and options such as `--model` set, without those that are ignored. */
  readonly overrides: ReadonlyArray<ConfigTree.Override>
  /** Warnings about keys without an effect, one line each. */
  readonly warnings: ReadonlyArray<string>
}

/** The process cannot start; `message` is one line. */
export class StartupError extends Data.TaggedError("StartupError")<{
  readonly message: string
  /** Warnings about keys without an effect: a misspelt one may be the cause. */
  readonly warnings?: ReadonlyArray<string>
}> {}

const program = "colloquy: "

/**
 * The lines to print on stderr before exit code 1.
 *
 * @param errorOf makes the last one of the message; default: as the original program prints it
 */
export const messageOf = (
  cause: Cause.Cause<StartupError>,
  errorOf?: (message: string) => string,
): string => {
  const error = Cause.squash(cause)
  if (!(error instanceof StartupError)) {
    const message = `cannot start: ${errorLine(error)}`
    return errorOf === undefined ? program + message : errorOf(message)
  }
  const { message, warnings = [] } = error
  const last = errorOf === undefined ? message : errorOf(message.replace(/^colloquy: /, ""))
  return [...warnings.map((warning) => program + warning), last].join("\n")
}

const fail = (message: string) => new StartupError({ message: oneLine(message) })
const loadingFailed = (problem: string) => fail(`error loading config: ${problem}`)

const unconfigured = ({ stateDirectory }: Environment): string =>
  `No model provider is configured. Set OPENAI_API_KEY, log in (\`colloquy login\`, or \`loginApiKey\` or \`loginChatGpt\` of \`colloquy app-server\`), or set \`model_provider\` and its table of \`model_providers\` in ${stateDirectory}/config.toml. \`model_provider = "offline"\` requests the built-in offline model, which needs neither key nor network.`

/** The message if no provider is configured. A login of the original counts as one, unless the setting excludes it. */
const missing = (environment: Environment, usesOriginal: boolean): string | undefined => {
  if (environment.openaiConfigured || isLoggedIn(environment)) return undefined
  const original = originalLogin(environment)
  if (original === undefined) return unconfigured(environment)
  return usesOriginal ? undefined : `${unconfigured(environment)} Note: ${excludedLogin(original)}.`
}

const sourceOf = (
  environment: Environment,
  fault: string | undefined,
): Omit<Resolve.ResolveSource, "tree" | "flagKeys"> => ({
  builtinProviders: [
    openaiProvider(
      environment.openaiBaseUrl === undefined ? {} : { baseUrl: environment.openaiBaseUrl },
    ),
    ossProvider(environment.ossBaseUrl === undefined ? {} : { baseUrl: environment.ossBaseUrl }),
    offlineProvider,
  ],
  defaultProvider: "openai",
  ...(fault === undefined ? {} : { missingProviderMessage: fault }),
  cwd: environment.cwd,
  ...(environment.shell === undefined ? {} : { shell: environment.shell }),
})

const chatgptBaseUrl = "https://chatgpt.com/backend-api/"

/** The base URL for tokens of a login, which the public API does not accept. Absent if OPENAI_BASE_URL is set. */
export const tokenBaseUrl = (
  environment: Environment,
  { tree }: Resolve.ResolveSource,
): { readonly tokenBaseUrl?: string } => {
  if (environment.openaiBaseUrl !== undefined) return {}
  const configured = ConfigTree.get(tree, "chatgpt_base_url")
  const base = typeof configured === "string" ? configured : chatgptBaseUrl
  return { tokenBaseUrl: `${base.replace(/\/+$/, "")}/codex` }
}

/** Why conversations cannot start in `path`; undefined if they can. */
const directoryFault = (path: string): string | undefined => {
  try {
    return statSync(path).isDirectory() ? undefined : "is not a directory"
  } catch (error) {
    return ConfigFile.codeOf(error) === "ENOENT"
      ? "is not a directory"
      : ConfigFile.problemOf(error)
  }
}

const readScript = (path: string) =>
  Effect.flatMap(
    Effect.promise(() => import("./ScriptFile.ts")),
    ({ read }) => read(path),
  )

/** Decodes the table `telemetry`. Most configurations have none and load nothing of it. */
const readTelemetry = <E>(
  tree: ConfigTree.ConfigTree,
  read: (keys: Result.Result<TelemetryOptions, ConfigFault>) => Effect.Effect<TelemetryOptions, E>,
) =>
  Effect.flatMap(
    Effect.promise(() => import("../args/TelemetryOptions.ts")),
    ({ telemetryOptions }) => read(telemetryOptions(tree)),
  )

/** Checks the tables of a server that listens. Most configurations have none and load nothing of them. */
const checkServed = <E>(
  tree: ConfigTree.ConfigTree,
  read: (checked: Result.Result<unknown, ConfigFault>) => Effect.Effect<unknown, E>,
): Effect.Effect<unknown, E> =>
  tree["http"] === undefined && tree["cluster"] === undefined
    ? Effect.void
    : Effect.flatMap(
        Effect.promise(() => import("../args/ServedTables.ts")),
        ({ checkedTables }) => read(checkedTables(tree)),
      )

/** The fault as an error of the settings. */
export const errorOf = ({ key, message }: Pick<ConfigFault, "key" | "message">): SettingsError =>
  new SettingsError({ message, ...(key === undefined ? {} : { key }) })

/**
 * Loads what every command needs from a configuration, and the files that it names. Fails with the first fault: a key that is
 * not valid, or settings with which no conversation could start. A candidate configuration is loaded in the same way before
 * it is written.
 *
 * @param locate adds the place in the file to the error about a key; default: none is added
 */
export const loadFrom = Effect.fnUntraced(function* (
  source: Resolve.ResolveSource,
  locate: LiveSettings.Locate = Effect.succeed,
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
  yield* checkServed(tree, read)
  // Faulty settings are reported now, not at every call. A missing provider is not an error yet: a login may follow.
  const created = yield* Effect.result(
    LiveSettings.settingsOf(source, { requiresProvider: true }, locate),
  )
  const settings = Result.isSuccess(created)
    ? created.success
    : yield* LiveSettings.settingsOf(source, {}, locate)
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

/** See `ReplacedValues`, which is loaded only where an option makes a table. */
const replacedFault = (tree: ConfigTree.ConfigTree, overrides: Startup["overrides"]) =>
  overrides.some(({ path }) => path.includes("."))
    ? Effect.flatMap(
        Effect.promise(() => import("../config/ReplacedValues.ts")),
        ({ faultOf }) => faultOf(tree, overrides),
      )
    : Effect.undefined

/** Loads the configuration. Fails if it is not valid, or if no conversation could start with it. */
export const load = Effect.fnUntraced(function* (
  environment: Environment,
  { flags = [], overrides: args }: Pick<Launch, "overrides" | "flags">,
): Effect.fn.Return<Startup, StartupError> {
  if (environment.cwd === "") return yield* fail("colloquy: the current directory was removed")
  const fault = directoryFault(environment.cwd)
  if (fault !== undefined) return yield* fail(`colloquy: ${environment.cwd} ${fault}`)
  const given = yield* Effect.mapError(
    Effect.fromResult(ConfigTree.parseOverrides(args)),
    (problem) => fail(`error parsing -c overrides: ${problem}`),
  )
  const overrides = [
    ...given.filter(({ path }) => !isFileOnly(path)),
    ...flags.map(({ key, option, value }) => ({ path: key, value, flag: option })),
  ]
  const file = yield* Effect.mapError(
    Effect.fromResult(ConfigFile.read(environment.stateDirectory)),
    loadingFailed,
  )
  const tree = ConfigTree.applyOverrides(file.tree, overrides)
  const warnings = yield* warningsOf(file, given)
  const failed = ({ message }: SettingsError) =>
    new StartupError({ message: loadingFailed(message).message, warnings })
  const usesOriginal = ConfigTree.get(tree, "login.from_codex") !== false
  const sourceNow = () => sourceOf(environment, missing(environment, usesOriginal))
  const source = { ...sourceNow(), tree }
  const live = LiveSettings.make({
    stateDirectory: environment.stateDirectory,
    overrides,
    source: sourceNow,
    known: file,
  })
  const flagKeys = ConfigTree.flagKeys(overrides)
  const replaced = yield* replacedFault(file.tree, overrides)
  if (replaced !== undefined) return yield* failed(yield* live.locate(errorOf(replaced)))
  const loaded = yield* Effect.mapError(loadFrom({ ...source, flagKeys }, live.locate), failed)
  return { source, live, overrides, ...loaded, warnings }
})
