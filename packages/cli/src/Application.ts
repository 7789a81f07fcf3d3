/**
 * The layer graph of a serving process, whatever its transport and dialect: the server over the conversations, the models,
 * the tools, the store and the configuration of this machine. What a client does not need for its first response is loaded
 * when it is first used. Starts nothing by itself.
 */
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import type { ConversationsOptions } from "@colloquy/core/manager/Conversations"
import type { QuotaOf } from "@colloquy/core/Quota"
import { defined } from "@colloquy/protocol/Defined"
import type { Auth } from "@colloquy/server/app/ports/AuthPort"
import type { HostPort } from "@colloquy/server/app/ports/HostPort"
import type { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import { Server } from "@colloquy/server/Server"
import type { Workspaces } from "@colloquy/server/Workspace"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LiveSettings from "./config/LiveSettings.ts"
import { MachineAuth } from "./lazy/LazyAuth.ts"
import * as LazyConversations from "./lazy/LazyConversations.ts"
import * as LazyModels from "./lazy/LazyModels.ts"
import * as LazyNotify from "./lazy/LazyNotify.ts"
import * as LazyPorts from "./lazy/LazyPorts.ts"
import * as LazyProjectDocs from "./lazy/LazyProjectDocs.ts"
import * as LazyPrompts from "./lazy/LazyPrompts.ts"
import * as LazySqlStore from "./lazy/LazySqlStore.ts"
import * as LazyStore from "./lazy/LazyStore.ts"
import * as LazyTools from "./lazy/LazyTools.ts"
import { SharedPrograms } from "./lazy/SharedPrograms.ts"
import * as LogLayer from "./log/LogLayer.ts"
import type { Environment } from "./machine/Environment.ts"
import { machineOptions } from "./machine/MachineOptions.ts"
import * as Startup from "./server/Startup.ts"
import type { Serving } from "./server/StdioServer.ts"
import { version } from "./server/Version.ts"

/** The program that creates the conversations, as the metadata in their rollout files names it. */
export interface Program {
  readonly originator: string
  readonly source: string
}

/** What principals other than the user who started the process may use. */
export interface PrincipalRules {
  readonly quotaOf: QuotaOf
  readonly workspaces: Workspaces
}

/** Where the conversations are stored and run, if not in this process alone. Its layers fail with `E`. */
export interface ConversationPlace<E> {
  readonly store: Layer.Layer<ConversationStore, E>
  readonly manager: (
    options: ConversationsOptions,
  ) => Layer.Layer<ConversationManager, E, LazyConversations.Needs>
  /** Provides `RequestCounts`. Default: each process counts requests by itself. */
  readonly requestCounts?: Layer.Layer<never, E>
}

/** What a served connection can use. */
export type Services = Server | Auth | HostPort | UserConfig

const conversations = <E>(
  program: Program,
  { live, options, settings, source }: Startup.Startup,
  environment: Environment,
  principals: PrincipalRules | undefined,
  manager: ConversationPlace<E>["manager"],
) => {
  const { environment: variables, secretNames } = machineOptions(environment, source)
  const notifying = LazyNotify.make(live, {
    environment: variables,
    secretNames: [...secretNames, ...(settings.secretNames ?? [])],
    cwd: environment.cwd,
  })
  return Layer.unwrap(
    Effect.map(notifying, (onTurnCompleted) =>
      manager({
        program: { ...program, version },
        onTurnCompleted,
        ...(principals === undefined ? {} : { quotaOf: principals.quotaOf }),
        ...(options.conversation_idle_ms === undefined
          ? {}
          : { idleTimeToLive: Duration.millis(options.conversation_idle_ms) }),
      }),
    ),
  )
}

const models = ({ options, script }: Startup.Startup) =>
  LazyModels.layer({
    ...(script === undefined ? {} : { script }),
    ...(options.offline?.delta_delay_ms === undefined
      ? {}
      : { deltaDelay: Duration.millis(options.offline.delta_delay_ms) }),
    userAgent: `colloquy/${version}`,
  })

const login = ({ options, settings, source }: Startup.Startup, environment: Environment) =>
  MachineAuth.layer({
    stateDirectory: environment.stateDirectory,
    ...(environment.originalDirectory === undefined
      ? {}
      : { originalDirectory: environment.originalDirectory }),
    login: options.login,
    ...Startup.tokenBaseUrl(environment, source),
    provider: settings.provider,
  })

const store = (
  { options }: Startup.Startup,
  { stateDirectory }: Environment,
  url: Serving["url"],
) => {
  const { conversation_store: where = "files" } = options
  if (where === "memory") return MemoryStore.layer
  return LazySqlStore.isDatabase(where)
    ? LazySqlStore.layer(where, url)
    : LazyStore.layer({ home: stateDirectory, ...(url === undefined ? {} : { url }) })
}

/** The conversations of this process alone. */
const ownPlace = ({
  environment,
  startup,
  storedSettings,
  url,
}: Serving): ConversationPlace<never> => ({
  store: store(startup, environment, url),
  manager: (options) => LazyConversations.layer({ ...options, ...defined({ storedSettings }) }),
})

const settings = ({ live }: Startup.Startup, { hiddenDirectories, stateDirectory }: Environment) =>
  Layer.provide(
    LazyProjectDocs.layer({ stateDirectory, hiddenPaths: hiddenDirectories }),
    LiveSettings.layer(live),
  )

/** Provides everything that serving connections needs; all of it is released with the scope. */
const layer = <E>(
  program: Program,
  startup: Startup.Startup,
  environment: Environment,
  principals: PrincipalRules | undefined,
  place: ConversationPlace<E>,
): Layer.Layer<Services, E> => {
  const server = Server.layerDefault({
    prompts: LazyPrompts.make(environment),
    ...(principals === undefined ? {} : { workspaces: principals.workspaces }),
  })
  const { requestCounts = Layer.empty } = place
  return Layer.mergeAll(server, LazyPorts.layer(startup, environment), requestCounts).pipe(
    Layer.provide(conversations(program, startup, environment, principals, place.manager)),
    Layer.provide(models(startup)),
    Layer.provide(login(startup, environment)),
    Layer.provide(LazyTools.layer(machineOptions(environment, startup.source))),
    Layer.provide(SharedPrograms.layerOf(machineOptions(environment, startup.source).environment)),
    Layer.provide(IdGenerator.layer),
    Layer.provide(place.store),
    Layer.provide(settings(startup, environment)),
  )
}

/** Observes the conversations of the layer, if that is configured or they are measured; else nothing of it is loaded. */
const observed =
  ({ telemetry }: Startup.Startup, measures = false) =>
  <A, E>(self: Layer.Layer<A, E>): Layer.Layer<A, E> =>
    telemetry === undefined && !measures
      ? self
      : Layer.provideMerge(
          self,
          Layer.unwrap(
            Effect.map(
              Effect.promise(() => import("./telemetry/TelemetryLayer.ts")),
              (module) => module.layer(telemetry ?? {}, process.env),
            ),
          ),
        )

/**
 * Provides the layer and the log to the service of connections, which are closed before they are released.
 *
 * @param place of the conversations; default: this process, and the store that the configuration names
 */
export const provided =
  <EP = never>(
    program: Program,
    serving: Serving,
    principals?: PrincipalRules,
    place: ConversationPlace<EP> = ownPlace(serving),
  ) =>
  <A, E>(service: Effect.Effect<A, E, Services>): Effect.Effect<A, E | EP> => {
    const { close, environment, measures, startup, write } = serving
    return service.pipe(
      Effect.ensuring(close),
      Effect.provide(
        // The services log while they are released, too.
        layer(program, startup, environment, principals, place).pipe(
          observed(startup, measures),
          Layer.provideMerge(LogLayer.layer({ write, level: environment.logLevel })),
        ),
      ),
    )
  }
