/**
 * Starts a tool server and speaks MCP with it through `effect/ai`'s `McpClient`.
 *
 * Loads `effect/ai` and HTTP, so it is imported on demand, by `ToolServers` alone. Everything it opens ends with its
 * scope (L8).
 */
import type { McpServer } from "@colloquy/core/ConversationSettings"
import * as Config from "effect/Config"
import * as McpClient from "effect/ai/McpClient"
import type { McpClientError } from "effect/ai/McpClientError"
import * as McpSchema from "effect/ai/McpSchema"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Option from "effect/Option"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { ProcessGroup } from "../process/ProcessGroup.ts"
import type { Watchdog } from "../process/Watchdog.ts"
import { TrustedPrograms } from "../programs/TrustedPrograms.ts"
import * as CallProgress from "./CallProgress.ts"
import * as HttpTransport from "./HttpTransport.ts"
import type { ToolTransport } from "./ToolTransport.ts"
import * as ServerRequests from "./ServerRequests.ts"
import type { ServerTool } from "./ServerTools.ts"
import { maxTools, readTools } from "./ServerTools.ts"
import * as StdioTransport from "./StdioTransport.ts"
import { type ToolConnection, ToolServerError } from "./ToolConnection.ts"

/** Variables that programs need to work, without any that could be a key; the original's list for tool servers. */
const coreNames = "HOME LOGNAME PATH SHELL USER LANG LC_ALL LC_CTYPE TERM TZ TMPDIR TEMP TMP".split(
  " ",
)

/** Without it `McpClient` would limit each call to 60 s; `ToolServer` owns the start-up time. */
const noLimit = Duration.infinity

const unreadable = "the server's result breaks the protocol"

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const encodeResult = Schema.encodeUnknownEffect(McpSchema.CallToolResult)

const variable = (name: string): Effect.Effect<string | undefined, ToolServerError> =>
  Config.option(Config.Redacted(name)).pipe(
    Effect.map((value) => Option.getOrUndefined(Option.map(value, Redacted.value))),
    Effect.mapError(() => new ToolServerError({ message: `cannot read the variable ${name}` })),
  )

const environmentOf = Effect.fnUntraced(function* (server: StdioTransport.StdioServer) {
  const environment: Record<string, string> = {}
  for (const name of coreNames) {
    const value = yield* variable(name)
    if (value !== undefined) environment[name] = value
  }
  // Commands cannot write to any directory where a server named without a directory, and what it starts, are searched.
  const { PATH } = environment
  if (PATH !== undefined) environment["PATH"] = yield* (yield* TrustedPrograms).safeSearchPath(PATH)
  return { ...environment, ...server.env }
})

/** What a connection needs; the watchdog keeps L8 when the server is killed. */
type Services = ChildProcessSpawner | HttpClient | ProcessGroup | Watchdog | TrustedPrograms

type HttpServer = Extract<McpServer["transport"], { readonly _tag: "Http" }>

const headersOf = Effect.fnUntraced(function* (server: HttpServer) {
  const name = server.bearerTokenEnv
  if (name === undefined) return server.headers
  const token = ((yield* variable(name)) ?? "").trim()
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return yield* new ToolServerError({ message: `the variable ${name} holds no usable token` })
  }
  return { ...server.headers, authorization: `Bearer ${token}` }
})

const urlOf = (text: string): Effect.Effect<URL, ToolServerError> => {
  const url = URL.parse(text)
  return url !== null && (url.protocol === "http:" || url.protocol === "https:")
    ? Effect.succeed(url)
    : Effect.fail(new ToolServerError({ message: "its `url` is no http or https URL" }))
}

const open = Effect.fnUntraced(function* (
  name: string,
  server: McpServer["transport"],
  receiving: ServerRequests.Receiving,
): Effect.fn.Return<ToolTransport, ToolServerError, Services | Scope.Scope> {
  if (server._tag === "Stdio") {
    return yield* StdioTransport.make(name, server, yield* environmentOf(server), receiving)
  }
  const url = yield* urlOf(server.url)
  return yield* HttpTransport.make(name, url, yield* headersOf(server), receiving)
})

/** Limits of error texts that contain what a server sent. */
const maxErrorChars = 2_000
const maxFaultChars = 300

const toError = ({ reason }: McpClientError): ToolServerError => {
  const { cause } = reason._tag === "ValidationError" ? reason : {}
  const fault = cause instanceof Error ? `: ${cause.message.slice(0, maxFaultChars)}` : ""
  const message = `${reason.message}${fault}`
  return new ToolServerError({ message: message.slice(0, maxErrorChars).toWellFormed() })
}

/**
 * Requests that `McpClient` has no method for, or not with all members. The ids are strings: those of `McpClient` are numbers.
 */
const requestsOf = ({ transport }: ToolTransport): ToolConnection["request"] => {
  let count = 0
  return (method, params) =>
    Effect.suspend(() =>
      transport.request({ jsonrpc: "2.0", id: `direct-${++count}`, method, params }),
    ).pipe(
      Effect.mapError(toError),
      Effect.flatMap((response) => {
        if ("error" in response) {
          const message = response.error.message.slice(0, maxErrorChars).toWellFormed()
          return Effect.fail(new ToolServerError({ message }))
        }
        const { result } = response
        return isRecord(result)
          ? Effect.succeed(result)
          : Effect.fail(new ToolServerError({ message: unreadable }))
      }),
    )
}

/** The usable tools by name, each as it was listed and as it is read. */
const namedTools = (listed: ReadonlyArray<McpSchema.Tool>) => {
  const byName = new Map<string, readonly [McpSchema.Tool, ServerTool]>()
  for (const tool of listed.slice(0, maxTools)) {
    const [read] = readTools([tool])
    if (read !== undefined && !byName.has(tool.name)) byName.set(tool.name, [tool, read])
  }
  return byName
}

/** Starts the server, performs the handshake and lists its tools. Has no time limit. */
export const connect = Effect.fnUntraced(function* (
  name: string,
  server: McpServer["transport"],
  ask: ServerRequests.AskPerson,
): Effect.fn.Return<ToolConnection, ToolServerError, Services | Scope.Scope> {
  const progress = CallProgress.make()
  const { notified } = progress
  const lines = yield* open(name, server, { answering: ServerRequests.make(ask), notified })
  const client = yield* McpClient.make({
    name: "colloquy",
    version: "0.1.0",
    timeout: noLimit,
  }).pipe(
    Effect.provideService(McpClient.Transport, progress.around(lines.transport)),
    Effect.mapError(toError),
  )
  const listed = yield* Effect.mapError(client.listTools(), toError)
  const byName = namedTools(listed)
  return {
    tools: [...byName.values()].map(([, read]) => read),
    call: (toolName, args, receive) => {
      const tool = byName.get(toolName)?.[0]
      if (tool === undefined) {
        return Effect.fail(new ToolServerError({ message: `the server has no tool ${toolName}` }))
      }
      return client.callTool({ tool, ...(args === undefined ? {} : { arguments: args }) }).pipe(
        CallProgress.receivedBy(receive),
        Effect.mapError(toError),
        Effect.flatMap((result) =>
          Effect.mapError(encodeResult(result), () => new ToolServerError({ message: unreadable })),
        ),
      )
    },
    request: requestsOf(lines),
    ended: lines.ended,
    isOver: lines.isOver,
  }
})
