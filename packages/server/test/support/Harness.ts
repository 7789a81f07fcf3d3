/**
 * A server in this process with the real core and the real model client on a scripted provider, and a client that is a
 * list of texts. Nothing here waits on real time: `quiet` runs the scheduler until no fiber has anything left to do.
 */
import { Broadcasts } from "@colloquy/core/Broadcasts"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { ConfigTree } from "@colloquy/config/ConfigTree"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import * as Resolve from "@colloquy/config/Resolve"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as HttpModel from "@colloquy/models/HttpModel"
import { localPrincipal } from "@colloquy/protocol/Connection"
import type { MemoryConnection } from "@colloquy/testing/MemoryConnection"
import * as MemoryProvider from "@colloquy/testing/MemoryProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import * as TestSealer from "@colloquy/testing/TestSealer"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as McpServer from "../../src/McpServer.ts"
import { Auth } from "../../src/app/ports/AuthPort.ts"
import { HostPort } from "../../src/app/ports/HostPort.ts"
import { UserConfig } from "../../src/app/ports/UserConfigPort.ts"
import { Sealer } from "../../src/Sealer.ts"
import { Server, type ServerOptions } from "../../src/Server.ts"
import { Tasks } from "../../src/tasks/Tasks.ts"
import { pair } from "./ConnectionPair.ts"
import { read, type WireMessage } from "./Wire.ts"

export interface Harness {
  readonly connection: MemoryConnection
  /** Everything the server sent so far. */
  readonly messages: ReadonlyArray<WireMessage>
  /** The same texts as they were sent. */
  readonly texts: ReadonlyArray<string>
  /** Sends the texts in one batch. */
  readonly sendTexts: (...texts: ReadonlyArray<string>) => Effect.Effect<void>
  /** Sends the values as JSON, in one batch. */
  readonly send: (...messages: ReadonlyArray<unknown>) => Effect.Effect<void>
  /** Waits for the response with this id, the first or a later one. */
  readonly response: (id: unknown) => Effect.Effect<WireMessage>
  /** Sends a request and waits for its response. */
  readonly ask: (id: unknown, method: string, params?: unknown) => Effect.Effect<WireMessage>
  /** Sends a tool call and waits for its response. */
  readonly call: (id: unknown, name: string, args?: unknown) => Effect.Effect<WireMessage>
  /** Runs everything that can run without time passing. */
  readonly quiet: Effect.Effect<void>
  readonly server: Fiber.Fiber<void>
  /** One more connection to the same conversations. */
  readonly another: Effect.Effect<Harness, never, Scope.Scope>
  /** One more connection to the same server, on behalf of another principal. */
  readonly as: (principal: string) => Effect.Effect<Harness, never, Scope.Scope>
  readonly provider: MemoryProvider.MemoryProvider
  readonly manager: Context.Service.Shape<typeof ConversationManager>
  /** What the connections share. */
  readonly shared: Server["Service"]
}

type Ports = Auth | HostPort | UserConfig

/** Ports of a server without logins, programs and a configuration file. */
export const noPorts: Layer.Layer<Ports> = Layer.mergeAll(
  Auth.layerNone,
  HostPort.layerNone,
  UserConfig.layerNone,
)

/** A server that shares only conversations, settings and sealer with others. */
const separateServer = Layer.provide(Server.layer(), Tasks.layer())

type Beside = NonNullable<McpServer.McpServerOptions["beside"]>

export interface HarnessOptions extends Omit<McpServer.McpServerOptions, "beside">, ServerOptions {
  /** Another dialect on the connection, without ports. */
  readonly beside?: Effect.Effect<Beside, never, Ports>
  readonly script?: Script.ProviderScript
  /** Default: none. */
  readonly tools?: ToolRuntime["Service"]
  /** Default: those of the recordings. */
  readonly settings?: Layer.Layer<SettingsResolver>
  /** The program that serves the connection. Default: `McpServer`. */
  readonly serve?: typeof McpServer.serve
  /** Where conversations are kept. Default: in memory. */
  readonly store?: Layer.Layer<ConversationStore>
  /** On whose behalf the client acts. Default: the local principal. */
  readonly principal?: string
  /** Messages in flight per direction before a sender waits. */
  readonly capacity?: number
  /** The tasks of the server. Default: with their default limits. */
  readonly tasks?: Tasks["Service"]
  /** True: every connection has its own server, over the same conversations, which ends with it. Default false. */
  readonly serverPerConnection?: boolean
  /** Makes what connects such a server to the others. Default: nothing does. */
  readonly broadcasts?: () => Broadcasts
  /** Seals the states that clients keep. Default: the one for tests. */
  readonly sealer?: Layer.Layer<Sealer>
}

type Services = Server | ConversationManager | SettingsResolver | Sealer

export const defaultAnswer = "mock default answer"
export const defaultReply = Script.reply(Script.text(defaultAnswer))

/** The configuration of the recordings, with `more` on top: no retries, so that an error is reported at once. */
export const settingsWith = (
  more: ConfigTree,
  cwd = "/work",
  address: ConfigTree = { base_url: "http://provider.test/v1" },
) =>
  Resolve.layer({
    tree: {
      ...more,
      model: "mock-model",
      model_provider: "mock_provider",
      model_providers: {
        mock_provider: {
          name: "Mock",
          ...address,
          wire_api: "responses",
          request_max_retries: 0,
          stream_max_retries: 0,
        },
      },
    },
    builtinProviders: [],
    defaultProvider: "mock_provider",
    cwd,
  })

export const core = (
  tools: Layer.Layer<ToolRuntime>,
  store: Layer.Layer<ConversationStore> = MemoryStore.layer,
) =>
  Conversations.layer.pipe(
    Layer.provideMerge(store),
    Layer.provide(IdGenerator.layer),
    Layer.provide(tools),
  )

const callParams = (name: string, args: unknown) => ({
  name,
  ...(args === undefined ? {} : { arguments: args }),
})

export const toolCall = (id: unknown, name: string, args?: unknown) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: callParams(name, args),
})

export const cancelled = (requestId: unknown) => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
})

/** Yields until the count is unchanged for so long that every fiber must be waiting for time or for the test. */
const quietAfter = (count: () => number) =>
  Effect.gen(function* () {
    let before = -1
    while (before !== count()) {
      before = count()
      for (let i = 0; i < 200; i++) yield* Effect.yieldNow
    }
  })

const start: (
  options: HarnessOptions,
  provider: MemoryProvider.MemoryProvider,
) => Effect.Effect<Harness, never, Services | Scope.Scope> = Effect.fnUntraced(
  function* (options, provider) {
    const services = yield* Effect.context<Services>()
    const [connection, serverSide] = yield* pair(options.capacity ?? 64)
    const texts: Array<string> = []
    const messages: Array<WireMessage> = []
    const { beside, ...rest } = options
    const served: McpServer.McpServerOptions = {
      // Most tests of tasks need a task at once; tests of the wait set its duration.
      taskAfter: 0,
      ...rest,
      ...(beside === undefined ? {} : { beside: yield* Effect.provide(beside, noPorts) }),
    }
    const { principal = localPrincipal } = options
    const near = { ...serverSide, peer: { principal } }
    const serving = (options.serve ?? McpServer.serve)(near, served)
    const server = yield* Effect.forkChild(
      options.serverPerConnection === true
        ? serving.pipe(
            Effect.provide(separateServer),
            Effect.provideService(Broadcasts, options.broadcasts?.()),
          )
        : serving,
      {
        startImmediately: true,
      },
    )
    yield* connection.receive.pipe(
      Effect.map((frames) => {
        for (const frame of frames) {
          if (frame._tag !== "Text") continue
          texts.push(frame.text)
          // An array of responses is read by the tests that asked for one.
          if (!frame.text.startsWith("[")) messages.push(read(frame.text))
        }
      }),
      Effect.forever,
      // The server of the test ends with the end of the input.
      Effect.exit,
      Effect.forkScoped({ startImmediately: true }),
    )
    const sendTexts: Harness["sendTexts"] = (...lines) => Effect.orDie(connection.send(lines))
    const send: Harness["send"] = (...values) =>
      sendTexts(...values.map((value) => JSON.stringify(value)))
    const response = (id: unknown): Effect.Effect<WireMessage> =>
      Effect.suspend(() => {
        const found = messages.find((message) => message.method === undefined && message.id === id)
        return found === undefined
          ? Effect.andThen(Effect.yieldNow, response(id))
          : Effect.succeed(found)
      })
    const ask: Harness["ask"] = (id, method, params) =>
      Effect.andThen(
        send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) }),
        response(id),
      )
    const harness: Harness = {
      connection,
      messages,
      texts,
      sendTexts,
      send,
      response,
      ask,
      call: (id, name, args) => ask(id, "tools/call", callParams(name, args)),
      quiet: quietAfter(() => texts.length),
      server,
      another: Effect.provideContext(start(options, provider), services),
      as: (other) =>
        Effect.provideContext(start({ ...options, principal: other }, provider), services),
      provider,
      manager: yield* ConversationManager,
      shared: yield* Server,
    }
    return harness
  },
)

/** Runs `body` with the conversations of one process; their provider answers by the script. */
export const withCore = <A, E>(
  script: Script.ProviderScript,
  body: (provider: MemoryProvider.MemoryProvider) => Effect.Effect<A, E, Services | Scope.Scope>,
  tools?: ToolRuntime["Service"],
  settings: Layer.Layer<SettingsResolver> = settingsWith({}),
  store?: Layer.Layer<ConversationStore>,
  sealer: Layer.Layer<Sealer> = TestSealer.layer,
  { tasks, ...serverOptions }: ServerOptions & Pick<HarnessOptions, "tasks"> = {},
): Effect.Effect<A, E> =>
  Effect.flatMap(MemoryProvider.make(script), (provider) =>
    Effect.scoped(body(provider)).pipe(
      Effect.provide(
        Server.layer(serverOptions).pipe(
          Layer.provide(tasks === undefined ? Tasks.layer() : Layer.succeed(Tasks, tasks)),
          Layer.provideMerge(sealer),
          Layer.provideMerge(
            Layer.provide(
              core(
                tools === undefined ? ToolRuntime.layerNone : Layer.succeed(ToolRuntime, tools),
                store,
              ),
              Layer.provide(HttpModel.layer(), provider.layer),
            ),
          ),
          Layer.provideMerge(settings),
        ),
      ),
    ),
  )

/** Runs `body` against a new server; the provider answers by `options.script`. */
export const withServer = <A, E>(
  options: HarnessOptions,
  body: (harness: Harness) => Effect.Effect<A, E, Scope.Scope>,
): Effect.Effect<A, E> =>
  withCore(
    options.script ?? (() => defaultReply),
    (provider) => Effect.flatMap(start(options, provider), body),
    options.tools,
    options.settings,
    options.store,
    options.sealer,
    {
      ...(options.features === undefined ? {} : { features: options.features }),
      ...(options.prompts === undefined ? {} : { prompts: options.prompts }),
      ...(options.tasks === undefined ? {} : { tasks: options.tasks }),
      ...(options.workspaces === undefined ? {} : { workspaces: options.workspaces }),
    },
  )

/** Ids of all conversations, oldest first. */
export const listed = (manager: ConversationManager["Service"]) =>
  Effect.map(Effect.orDie(manager.list({ limit: 1000 })), ({ items }) =>
    items.map(({ id }) => id).toReversed(),
  )
