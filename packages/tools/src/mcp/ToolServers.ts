/**
 * Service: the tool servers of the process. There is one per configuration, shared by all conversations that name it
 * and kept for a few minutes after its last use. A turn opens its set; a server is started when the turn first needs
 * its tools.
 *
 * Owns names and events of calls. Loads `effect/ai` when the first server is started, never before, because that takes
 * longer than the rest of the start-up.
 */
import type { McpServer } from "@colloquy/core/ConversationSettings"
import type { ToolSpec } from "@colloquy/core/ModelClient"
import { defined } from "@colloquy/protocol/Defined"
import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import { wireDuration } from "@colloquy/protocol/events/WireDuration"
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
import { isReadOnly, readOnlyHintOf, type ServerTool } from "./ServerTools.ts"
import { reporting } from "./CallProgress.ts"
import type { Ask, ProgressReport } from "./ToolConnection.ts"
import * as ToolOutput from "./ToolOutput.ts"
import * as ToolServer from "./ToolServer.ts"

/** A server whose tools are missing. */
export interface ServerFailure {
  /** Name of the server, as configured. */
  readonly server: string
  /** In the words of the original's `error` event. */
  readonly message: string
}

/** The tools of the servers of one turn. */
export interface Listing {
  /** Sorted by the name by which the model calls them. */
  readonly tools: ReadonlyArray<Qualified<ServerTool> & { readonly spec: ToolSpec }>
  /** Servers whose tools are missing. They are repeated in every listing until they start. */
  readonly failures: ReadonlyArray<ServerFailure>
}

/** A call of a tool. */
export interface Call {
  readonly callId: string
  /** Name by which the model called the tool. */
  readonly qualifiedName: string
  /** The JSON text that the model wrote. */
  readonly arguments: string
  /** Delivers an event to the listeners of the turn. */
  readonly emit: (msg: EventMsg) => Effect.Effect<void>
  /** Resolves when the call may be made: undefined, or why not, as the end of a sentence. Default: it may. */
  readonly approve?: (args: unknown) => Effect.Effect<string | undefined>
}

/** The servers of one turn. */
export interface OpenServers {
  /**
   * Starts all servers that do not run, concurrently, and resolves with their tools after the longest start-up time at
   * most. A server that failed is not waited for again until it may be restarted.
   */
  readonly tools: Effect.Effect<Listing>
  /** True for a tool of the last listing. */
  readonly has: (qualifiedName: string) => boolean
  /** The tool of the last listing with this name. */
  readonly find: (qualifiedName: string) => Qualified<ServerTool> | undefined
  /** True when the server says of the tool that it changes nothing. */
  readonly isReadOnly: (qualifiedName: string) => boolean
  /**
   * Calls a tool of the last listing and returns the output for the model. Emits `mcp_tool_call_begin` before, also before
   * it is approved, `mcp_tool_call_progress` while the server reports progress, and `mcp_tool_call_end` after. Never fails. An interrupt cancels the call at the server without waiting for it.
   */
  readonly call: (call: Call) => Effect.Effect<string>
  /** The server with this name, as it is configured; undefined for any other name. */
  readonly server: (name: string) => ToolServer.ToolServer | undefined
  /** `tools` of `mcp_list_tools_response`: MCP tools by qualified name. */
  readonly list: Effect.Effect<Readonly<Record<string, ServerTool>>>
}

/** Options of the service. */
export interface Options {
  /** How long a server is kept after the last turn that used it. Default 5 minutes. */
  readonly idleTimeToLive?: Duration.Duration
  /** HTTP client, loaded when a server is started. Default: the platform's `fetch`. */
  readonly httpClient?: Effect.Effect<Layer.Layer<HttpClient>>
}

const idleTimeToLive = Duration.minutes(5)

const fetchClient = Effect.map(
  Effect.promise(() => import("effect/http/FetchHttpClient")),
  ({ layer }) => layer,
)

/** Answers a server whose questions reach nobody. */
export const decline: Ask = () => Effect.succeed({ action: "decline" })

const specOf = ({ qualifiedName, tool }: Qualified<ServerTool>): ToolSpec => ({
  type: "function",
  name: qualifiedName,
  description: tool.description ?? tool.title ?? "",
  parameters: tool.inputSchema,
})

const failed = ({ message }: { readonly message: string }): ToolOutput.Outcome => ({
  _tag: "Failure",
  message,
})

const resultOf = (outcome: ToolOutput.Outcome): EventOf<"mcp_tool_call_end">["result"] =>
  outcome._tag === "Result"
    ? { Ok: outcome.result }
    : { Err: `tool call error: ${outcome.message}` }

const outcomeOf = (
  result: Effect.Effect<ToolOutput.CallResult, { readonly message: string }>,
): Effect.Effect<ToolOutput.Outcome> =>
  Effect.match(result, {
    onFailure: failed,
    onSuccess: (value) => ToolOutput.outcome(value),
  })

/** Runs one call once it is approved, and emits its events. */
const runCall = Effect.fnUntraced(function* (
  { approve = () => Effect.undefined, callId, emit }: Call,
  { server, tool }: Qualified<ServerTool>,
  args: Readonly<Record<string, unknown>> | undefined,
  result: (
    progress: (report: ProgressReport) => void,
  ) => Effect.Effect<ToolOutput.CallResult, { readonly message: string }>,
) {
  const invocation = { server, tool: tool.name, arguments: args ?? null }
  const call = { call_id: callId, invocation }
  const readOnly = readOnlyHintOf(tool)
  let startedAt = yield* Clock.currentTimeMillis
  const end = (outcome: ToolOutput.Outcome) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      emit({
        type: "mcp_tool_call_end",
        ...call,
        duration: wireDuration(now - startedAt),
        result: resultOf(outcome),
      }),
    )
  yield* emit({ type: "mcp_tool_call_begin", ...call, ...defined({ read_only: readOnly }) })
  const called = outcomeOf(reporting(callId, emit, result))
  const outcome = yield* approve(args ?? null).pipe(
    Effect.flatMap((refused) =>
      refused === undefined
        ? Effect.andThen(
            // A person's time is not the tool's.
            Effect.map(Clock.currentTimeMillis, (now) => (startedAt = now)),
            called,
          )
        : Effect.succeed(failed({ message: refused })),
    ),
    // Listeners that saw the call start also see its end.
    Effect.onInterrupt(() => end(failed({ message: "interrupted" }))),
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

const emptyListing = Effect.succeed<Listing>({ tools: [], failures: [] })

const openServers = (servers: ReadonlyArray<Named>, ask: Ask): OpenServers => {
  const byServer = new Map(servers)
  let byName: ReadonlyMap<string, Qualified<ServerTool>> = new Map()
  // Listed before each request, and most conversations have no server.
  const tools =
    servers.length === 0
      ? emptyListing
      : Effect.map(listAll(servers), (listing) => {
          byName = new Map(listing.tools.map((tool) => [tool.qualifiedName, tool]))
          return listing
        })
  return {
    tools,
    has: (name) => byName.has(name),
    find: (name) => byName.get(name),
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
        : runCall(call, found, args.value, (progress) =>
            server.call(found.tool.name, args.value, ask, progress),
          )
    },
    server: (name) => byServer.get(name),
    list: Effect.map(tools, (listing) =>
      Object.fromEntries(listing.tools.map(({ qualifiedName, tool }) => [qualifiedName, tool])),
    ),
  }
}

/** How a server is started; tests provide scripted ones. */
export type Connecting = (name: string, server: McpServer) => ToolServer.Connect

/** The tool servers of the process; see the header of this file. */
export class ToolServers extends Context.Service<
  ToolServers,
  {
    /**
     * Opens the servers of one turn until the scope closes. Starts nothing. `ask` puts their questions to a person;
     * without it they are declined.
     */
    readonly open: (
      servers: Readonly<Record<string, McpServer>>,
      ask?: Ask,
    ) => Effect.Effect<OpenServers, never, Scope.Scope>
  }
>()("@colloquy/tools/ToolServers") {
  /** The service over servers that `connecting` starts. All end with the scope. */
  static readonly make = Effect.fnUntraced(function* (
    connecting: Connecting,
    idle: Duration.Duration = idleTimeToLive,
  ): Effect.fn.Return<ToolServers["Service"], never, Scope.Scope> {
    // Keys are compared by content: name and configuration, durations included.
    const running = yield* RcMap.make({
      idleTimeToLive: idle,
      lookup: ([name, server]: readonly [string, McpServer]) =>
        ToolServer.make(name, server, connecting(name, server)),
    })
    return ToolServers.of({
      open: (servers, ask = decline) => {
        const configured = Object.entries(servers)
        return configured.length === 0
          ? Effect.sync(() => openServers([], ask))
          : Effect.map(
              Effect.forEach(configured, ([name, { approval: _, ...server }]) =>
                Effect.map(RcMap.get(running, [name, server]), (one): Named => [name, one]),
              ),
              (named) => openServers(named, ask),
            )
      },
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
        // Loaded once: a cached effect starts anew when its only caller is interrupted.
        const http = Effect.uninterruptible(
          yield* Effect.cached(Effect.flatMap(load, (layer) => Layer.buildWithScope(layer, scope))),
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
