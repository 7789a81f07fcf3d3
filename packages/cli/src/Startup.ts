/**
 * From the command line, the environment and `config.toml` to what the commands run with. What cannot be understood
 * ends the process here, before anything is served, with one line that says what and where (§1.1).
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import * as ConfigTree from "@colloquy/core/settings/ConfigTree"
import * as Resolve from "@colloquy/core/settings/Resolve"
import { offlineProvider, openaiProvider, ossProvider } from "@colloquy/models/Providers"
import type { OfflineScript } from "@colloquy/models/OfflineScript"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import { resolve as resolvePath } from "node:path"
import * as ConfigFile from "./ConfigFile.ts"
import { codeOf } from "./ConfigFile.ts"
import { errorLine } from "./ErrorLine.ts"
import type { Environment } from "./Environment.ts"
import { misspelt, serverOptions, type ServerOptions } from "./ServerOptions.ts"

export interface Startup {
  readonly source: Resolve.ResolveSource
  readonly options: ServerOptions
  /** What a conversation gets that asks for nothing special. */
  readonly settings: ConversationSettings
  /** The answers of the offline model. */
  readonly script?: OfflineScript
  /** About keys that nobody reads; one line each. */
  readonly warnings: ReadonlyArray<string>
  /** Nobody chose a model, so the offline one answers; one line that tells how to choose. */
  readonly offlineNotice?: string
}

/** The process cannot begin; `message` is one line. */
export class StartupError extends Data.TaggedError("StartupError")<{ readonly message: string }> {}

/** The line to print on stderr before exit code 1. */
export const messageOf = (cause: Cause.Cause<StartupError>): string => {
  const error = Cause.squash(cause)
  return error instanceof StartupError
    ? error.message
    : `colloquy: cannot start: ${errorLine(error)}`
}

const oneLine = (text: string) => text.trim().replaceAll(/\s*\n\s*/g, " ")

const fail = (message: string) => new StartupError({ message: oneLine(message) })
const loadingFailed = (problem: string) => fail(`error loading config: ${problem}`)

const from = <A>(result: Result.Result<A, string>) =>
  Effect.mapError(Effect.fromResult(result), loadingFailed)

const readJson = (path: string): Result.Result<unknown, string> => {
  try {
    return Result.succeed(JSON.parse(readFileSync(path, "utf8")))
  } catch (error) {
    return Result.fail(
      error instanceof SyntaxError ? "is not JSON" : `cannot be read (${codeOf(error)})`,
    )
  }
}

const readScript = Effect.fnUntraced(function* (path: string) {
  const { decode } = yield* Effect.promise(() => import("@colloquy/models/OfflineScript"))
  const failed = (problem: string) => loadingFailed(`${path}: ${problem}\nin \`offline.script\``)
  const json = yield* Effect.mapError(Effect.fromResult(readJson(path)), failed)
  return yield* Effect.mapError(Effect.fromResult(decode(json)), (error) => failed(error.message))
})

const warningOf = (override: string): ReadonlyArray<string> => {
  const found = misspelt(override)
  return found === undefined
    ? []
    : [`-c ${found.key}: there is no such key and it is ignored, did you mean \`${found.near}\`?`]
}

const sourceOf = (
  environment: Environment,
  tree: ConfigTree.ConfigTree,
): Resolve.ResolveSource => ({
  tree,
  builtinProviders: [
    openaiProvider(
      environment.openaiBaseUrl === undefined ? {} : { baseUrl: environment.openaiBaseUrl },
    ),
    ossProvider(environment.ossBaseUrl === undefined ? {} : { baseUrl: environment.ossBaseUrl }),
    offlineProvider,
  ],
  defaultProvider: environment.openaiConfigured ? "openai" : "offline",
  cwd: environment.cwd,
})

/** Everything a command needs. */
export const load = Effect.fnUntraced(function* (
  environment: Environment,
  overrides: ReadonlyArray<string>,
): Effect.fn.Return<Startup, StartupError> {
  if (environment.cwd === "") return yield* fail("colloquy: the current directory was removed")
  const file = yield* from(ConfigFile.read(environment.stateDirectory))
  const tree = yield* Effect.mapError(
    Effect.fromResult(ConfigTree.applyArguments(file, overrides)),
    (problem) => fail(`error parsing -c overrides: ${problem}`),
  )
  const source = sourceOf(environment, tree)
  const options = yield* from(serverOptions(tree))
  // What no conversation could start with is better told now than at every call.
  const settings = yield* from(
    Result.mapError(Resolve.resolve(source, {}), (error) => error.message),
  )
  const path = options.offline?.script
  const script = path === undefined ? undefined : yield* readScript(resolvePath(source.cwd, path))
  const chosen = ConfigTree.get(tree, "model_provider") !== undefined
  return {
    source,
    options,
    settings,
    ...(script === undefined ? {} : { script }),
    warnings: overrides.flatMap(warningOf),
    ...(chosen || settings.provider.wire !== "offline"
      ? {}
      : {
          offlineNotice: `the built-in offline model answers: set OPENAI_API_KEY, or model_provider in ${environment.stateDirectory}/config.toml, for another`,
        }),
  }
})
