/**
 * The tool servers of the process: one of each configuration, shared by all conversations that name it, kept for a few
 * minutes after the last let it go. A turn opens its set; a server is started when the turn first asks for its tools.
 *
 * Owns names and events of calls. Loads `effect/ai` with the first server that is started, never before: it costs more
 * than the rest of our start-up (effect4-notes §12).
 */
import type { McpServer } from "@colloquy/core/ConversationSettings"
import type { ToolSpec } from "@colloquy/core/ModelClient"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as RcMap from "effect/RcMap"
import type * as Scope from "effect/Scope"
import { ProcessGroup } from "../process/ProcessGroup.ts"
import { Watchdog } from "../process/Watchdog.ts"
import { TrustedPrograms } from "../programs/TrustedPrograms.ts"
import { type Qualified, qualifyAll } from "./QualifiedNames.ts"
import { isReadOnly, type ServerTool } from "./ServerTools.ts"
import type { Ask } from "./ToolConnection.ts"
import * as ToolOutput from "./ToolOutput.ts"
import * as ToolServer from "./ToolServer.ts"

export interface ServerFailure {
  readonly server: string
  /** As the original words it in its `error` event (§5.1). */
  readonly message: string
}

export interface Listing {
  /** Sorted by the name the model calls them by. */
  readonly tools: ReadonlyArray<Qualified<ServerTool> & { readonly spec: ToolSpec }>
  /** Servers whose tools are missing. The same ones come again with every listing until they start. */
  readonly failures: ReadonlyArray<ServerFailure>
}

export interface Call {
  readonly callId: string
  readonly qualifiedName: string
  /** As the model wrote them: a JSON text. */
  readonly arguments: string
  readonly emit: (msg: EventMsg) => Effect.Effect<void>
}

/** The servers of one turn. */
export interface OpenServers {
  /**
   * Starts what does not run, all at once, and gives what there is after the longest start-up time at most. A server
   * that failed is not waited for again until it may be started anew.
   */
  readonly tools: Effect.Effect<Listing>
  /** True for a tool of the last listing. */
  readonly has: (qualifiedName: string) => boolean
  /** True when the server says of the tool that it changes nothing. */
  readonly isReadOnly: (qualifiedName: string) => boolean
  /**
   * Calls a tool of the last listing and gives the output for the model; emits `mcp_tool_call_begin` before and
   * `mcp_tool_call_end` after. Never fails. Interrupted, it tells the server and ends without waiting for it.
   */
  readonly call: (call: Call) => Effect.Effect<string>
  /** `tools` of `mcp_list_tools_response`: qualified name to MCP tool (§4.5). */
  readonly list: Effect.Effect<Readonly<Record<string, ServerTool>>>
}

export interface Options {
  /** How long a server is kept after the last turn that used it. Default 5 minutes. */
  readonly idleTimeToLive?: Duration.Duration
  /** What speaks HTTP, loaded when a server is started. Default: the platform's `fetch`. */
  readonly httpClient?: Effect.Effect<Layer.Layer<HttpClient>>
}

const idleTimeToLive = Duration.minutes(5)

const fetchClient = Effect.map(
  Effect.promise(() => import("effect/http/FetchHttpClient")),
  ({ layer }) => layer,
)

const decline: Ask = () => Effect.succeed({ action: "decline" })

const specOf = ({ qualifiedName, tool }: Qualified<ServerTool>): ToolSpec => ({
  type: "function",
  name: qualifiedName,
  description: tool.description ?? tool.title ?? "",
  parameters: tool.inputSchema,
})

const wireDuration = (ms: number) => ({
  secs: Math.floor(ms / 1_000),
  nanos: Math.floor((ms % 1_000) * 1_000_000),
})

/** One call from its begin to its end, told. */
const runCall = Effect.fnUntraced(function* (
  { callId, emit }: Call,
  { server, tool }: Qualified<ServerTool>,
  args: Readonly<Record<string, unknown>> | undefined,
  result: Effect.Effect<ToolOutput.CallResult, { readonly message: string }>,
) {
  const invocation = { server, tool: tool.name, arguments: args ?? null }
  const call = { call_id: callId, invocation }
  const startedAt = yield* Clock.currentTimeMillis
  const end = (outcome: ToolOutput.Outcome) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      emit({
        type: "mcp_tool_call_end",
        ...call,
        duration: wireDuration(now - startedAt),
        result:
          outcome._tag === "Result"
            ? { Ok: outcome.result }
            : { Err: `tool call error: ${outcome.message}` },
      }),
    )
  yield* emit({ type: "mcp_tool_call_begin", ...call })
  const outcome = yield* Effect.match(result, {
    onFailure: ({ message }): ToolOutput.Outcome => ({ _tag: "Failure", message }),
    onSuccess: (value) => ToolOutput.outcome(value),
  }).pipe(
    // Listeners that saw it begin see it end.
    Effect.onInterrupt(() => end({ _tag: "Failure", message: "interrupted" })),
  )
  yield* end(outcome)
  return outcome._tag === "Result" ? outcome.output : ToolOutput.failedOutput(outcome.message)
})

type Named = readonly [name: string, server: ToolServer.ToolServer]

const listAll = Effect.fnUntraced(function* (servers: ReadonlyArray<Named>) {
  const failures: Array<ServerFailure> = []
  const listed = yield* Effect.forEach(
    servers,
    ([name, server]) =>
      Effect.match(server.tools, {
        onFailure: ({ message }): readonly [string, ReadonlyArray<ServerTool>] => {
          failures.push({
            server: name,
            message: `MCP client for \`${name}\` failed to start: ${message}`,
          })
          return [name, []]
        },
        onSuccess: (tools): readonly [string, ReadonlyArray<ServerTool>] => [name, tools],
      }),
    { concurrency: "unbounded" },
  )
  const tools = (yield* qualifyAll(listed)).map((tool) => ({ ...tool, spec: specOf(tool) }))
  return { tools, failures: failures.toSorted((a, b) => (a.server < b.server ? -1 : 1)) }
})

const openServers = (servers: ReadonlyArray<Named>, ask: Ask): OpenServers => {
  const byServer = new Map(servers)
  let byName: ReadonlyMap<string, Qualified<ServerTool>> = new Map()
  const tools = Effect.map(listAll(servers), (listing) => {
    byName = new Map(listing.tools.map((tool) => [tool.qualifiedName, tool]))
    return listing
  })
  return {
    tools,
    has: (name) => byName.has(name),
    isReadOnly: (name) => {
      const found = byName.get(name)
      return found !== undefined && isReadOnly(found.tool)
    },
    call: (call) => {
      const found = byName.get(call.qualifiedName)
      const server = found === undefined ? undefined : byServer.get(found.server)
      if (found === undefined || server === undefined) {
        return Effect.succeed(`unsupported call: ${call.qualifiedName}`)
      }
      const args = ToolOutput.parseArguments(call.arguments)
      return args._tag === "Bad"
        ? Effect.succeed(ToolOutput.badArguments(args.message))
        : runCall(call, found, args.value, server.call(found.tool.name, args.value, ask))
    },
    list: Effect.map(tools, (listing) =>
      Object.fromEntries(listing.tools.map(({ qualifiedName, tool }) => [qualifiedName, tool])),
    ),
  }
}

/** What one server is started by; a scripted one in tests. */
export type Connecting = (name: string, server: McpServer) => ToolServer.Connect

export class ToolServers extends Context.Service<
  ToolServers,
  {
    /**
     * The servers of one turn, held until the scope ends. Starts nothing. `ask` puts their questions to a person;
     * without it they are declined.
     */
    readonly open: (
      servers: Readonly<Record<string, McpServer>>,
      ask?: Ask,
    ) => Effect.Effect<OpenServers, never, Scope.Scope>
  }
>()("@colloquy/tools/ToolServers") {
  static readonly make = Effect.fnUntraced(function* (
    connecting: Connecting,
    idle: Duration.Duration = idleTimeToLive,
  ): Effect.fn.Return<ToolServers["Service"], never, Scope.Scope> {
    // Keys are compared by what is in them: name and configuration, durations included.
    const running = yield* RcMap.make({
      idleTimeToLive: idle,
      lookup: ([name, server]: readonly [string, McpServer]) =>
        ToolServer.make(name, server, connecting(name, server)),
    })
    return ToolServers.of({
      open: (servers, ask = decline) =>
        Effect.forEach(Object.entries(servers), ([name, server]) =>
          Effect.map(RcMap.get(running, [name, server]), (one): Named => [name, one]),
        ).pipe(Effect.map((named) => openServers(named, ask))),
    })
  })

  /** Servers as processes and over HTTP; all end with the layer. */
  static readonly layer = (
    options: Options = {},
  ): Layer.Layer<ToolServers, never, ChildProcessSpawner | TrustedPrograms> =>
    Layer.effect(
      this,
      Effect.gen(function* () {
        const spawner = yield* ChildProcessSpawner
        const scope = yield* Effect.scope
        const load = options.httpClient ?? fetchClient
        const http = yield* Effect.cached(
          // Loaded once, whoever gives up waiting for it.
          Effect.uninterruptible(
            Effect.flatMap(load, (layer) => Layer.buildWithScope(layer, scope)),
          ),
        )
        const watchdog = yield* Watchdog
        const processes = yield* ProcessGroup
        const programs = yield* TrustedPrograms
        return yield* ToolServers.make(
          (name, server) => (ask) =>
            Effect.promise(() => import("./McpConnection.ts")).pipe(
              Effect.flatMap((module) => module.connect(name, server.transport, ask)),
              Effect.provideService(ChildProcessSpawner, spawner),
              Effect.provideService(Watchdog, watchdog),
              Effect.provideService(ProcessGroup, processes),
              Effect.provideService(TrustedPrograms, programs),
              (connected) =>
                Effect.flatMap(http, (client) => Effect.provideContext(connected, client)),
            ),
          options.idleTimeToLive,
        )
      }),
    ).pipe(Layer.provide(Layer.merge(ProcessGroup.layer, Watchdog.layer)))
}
