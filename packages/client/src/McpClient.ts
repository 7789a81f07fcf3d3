/**
 * The client of the dialect `codex-mcp`: handshake, the tools `codex` and `codex-reply`, events and
 * questions. Every other method of the dialect can be called through `client`.
 */
import { type Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import {
  Initialize,
  type CallToolResult,
  Cancelled,
  CodexEvent,
  CodexMcp,
  Elicit,
  Ping,
  Progress,
  ToolsCall,
  ToolsList,
} from "@colloquy/protocol/mcp/CodexMcp"
import {
  Codex,
  type CodexArguments,
  CodexReply,
  type CodexReplyArguments,
  type ToolDefinition,
  ToolOutput,
} from "@colloquy/protocol/mcp/CodexTools"
import {
  decisionResult,
  type ElicitParams,
  type ElicitResult,
} from "@colloquy/protocol/mcp/Elicitation"
import type { Dialect, Handlers, Params, ResultOf } from "@colloquy/protocol/Method"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Cancel from "./Cancel.ts"
import * as Client from "./Client.ts"
import type * as Options from "./internal/McpConnectOptions.ts"
import { negotiate } from "./internal/McpHandshake.ts"
import { type ElicitationHandler, exchange, type ClientStatement } from "./internal/Stateless.ts"
import {
  make as makeListeners,
  type OnProgress,
  type ProgressListeners,
} from "./internal/ProgressListeners.ts"

type MethodsOf<D> = D extends Dialect<infer C, infer S> ? { readonly c: C; readonly s: S } : never
type ClientMethods = MethodsOf<typeof CodexMcp>["c"]
type ServerMethods = MethodsOf<typeof CodexMcp>["s"]

/** One `codex/event` notification. */
export type McpEvent = Options.McpEvent
/** Who the client is, and what it handles. */
export type ConnectOptions = Options.ConnectOptions

/** Options of a tool call. */
export interface ToolCallOptions extends Client.RequestOptions {
  /**
   * Requests progress notifications from the server. Runs like `onEvent`, and never after the call
   * has returned.
   */
  readonly onProgress?: OnProgress
}

/** The result of `codex` or `codex-reply`, with its most used parts. */
export interface TurnResult extends CallToolResult {
  /** The agent's last message, or the error when `isError` is true. */
  readonly text: string
  /** Id of the conversation, for `codexReply`. Servers before 0.120 do not send it here. */
  readonly threadId: string | undefined
}

type Tool = ResultOf<typeof ToolsList>["tools"][number]
type Failure = JsonRpcError | ConnectionClosed

/** A connected client. */
export interface McpClient {
  /** Calls any method of the dialect. */
  readonly client: Client.Client<ClientMethods>
  /**
   * The server's response to the handshake; in a revision without a handshake, the same data from
   * `server/discover`.
   */
  readonly server: ResultOf<typeof Initialize>
  /**
   * Starts a conversation and resolves when its first turn has ended. Interruption cancels the
   * turn.
   */
  readonly codex: (
    args: CodexArguments,
    options?: ToolCallOptions,
  ) => Effect.Effect<TurnResult, Failure>
  /**
   * Runs one more turn of a conversation and resolves when it has ended. Interruption cancels the
   * turn.
   */
  readonly codexReply: (
    args: CodexReplyArguments,
    options?: ToolCallOptions,
  ) => Effect.Effect<TurnResult, Failure>
  /** Calls any tool by its name. A tool that fails resolves with a result with `isError`. */
  readonly callTool: (
    name: string,
    args: unknown,
    options?: ToolCallOptions,
  ) => Effect.Effect<CallToolResult, Failure>
  /** The tools of all pages. */
  readonly listTools: Effect.Effect<ReadonlyArray<Tool>, Failure>
}

const cancel = Cancel.make(Cancelled, {
  params: (requestId) => ({ requestId }),
  id: ({ requestId }) => requestId,
})

/**
 * Creates the typed client without a handshake: `ping` is answered, and interrupted requests are
 * cancelled.
 */
export const make = (
  connection: Connection,
  options: Omit<Client.ClientOptions<ServerMethods>, "cancel"> = {},
): Effect.Effect<Client.Client<ClientMethods>, never, Scope.Scope> =>
  Client.make(CodexMcp, connection, {
    ...options,
    cancel,
    handlers: { [Ping._tag]: () => Effect.succeed({}), ...options.handlers },
  })

const toEvent = ({ _meta, id, msg }: Params<typeof CodexEvent>): McpEvent => ({
  requestId: _meta?.requestId ?? undefined,
  threadId: _meta?.threadId,
  id,
  msg,
})

const isText = (part: CallToolResult["content"][number]): part is { type: "text"; text: string } =>
  part.type === "text" && "text" in part && typeof part["text"] === "string"

/** False for a block that is meant for the model only, which is not part of the agent's message. */
const isForUser = ({ annotations }: CallToolResult["content"][number]): boolean => {
  const audience =
    typeof annotations === "object" && annotations !== null && "audience" in annotations
      ? annotations.audience
      : undefined
  return !Array.isArray(audience) || audience.includes("user")
}

const readOutput = Schema.decodeUnknownOption(ToolOutput)

const toTurnResult = (result: CallToolResult): TurnResult => ({
  ...result,
  text: result.content
    .filter(isForUser)
    .filter(isText)
    .map((part) => part.text)
    .join("\n"),
  threadId: Option.getOrUndefined(readOutput(result.structuredContent))?.threadId,
})

/**
 * The result for a decision. A form of another kind has no place for a decision, so its action
 * expresses it.
 */
const resultOf = (question: ElicitParams, decision: ReviewDecision): ElicitResult => {
  if (question.codex_elicitation !== undefined) return decisionResult(decision)
  switch (decision) {
    case "denied":
      return { action: "decline" }
    case "abort":
      return { action: "cancel" }
    default:
      return { action: "accept", content: {} }
  }
}

/** The handlers of the server's messages that the caller asked for. */
const handlersOf = (
  { onEvent }: ConnectOptions,
  answer: ElicitationHandler | undefined,
  listeners: ProgressListeners,
): Partial<Handlers<ServerMethods, Client.ServerCall>> => ({
  [Progress._tag]: listeners.onNotification,
  ...(onEvent === undefined
    ? {}
    : { [CodexEvent._tag]: (params: Params<typeof CodexEvent>) => onEvent(toEvent(params)) }),
  ...(answer === undefined ? {} : { [Elicit._tag]: answer }),
})

const allTools = Effect.fnUntraced(function* (client: Client.Client<ClientMethods>) {
  const tools: Array<Tool> = []
  const seen = new Set<string>()
  let page = yield* client.request(ToolsList, {})
  tools.push(...page.tools)
  // Stops at a repeated cursor, because such a server would never end the list.
  while (page.nextCursor !== undefined && !seen.has(page.nextCursor)) {
    seen.add(page.nextCursor)
    page = yield* client.request(ToolsList, { cursor: page.nextCursor })
    tools.push(...page.tools)
  }
  return tools
})

const elicitationHandler = ({ onElicitation }: ConnectOptions): ElicitationHandler | undefined =>
  onElicitation === undefined
    ? undefined
    : (question) =>
        Effect.map(onElicitation(question), (answer) =>
          typeof answer === "string" ? resultOf(question, answer) : answer,
        )

/**
 * Connects to a server and returns the client, which is released with the scope. Fails with a
 * `JsonRpcError` of code -32602 when the server supports no revision of this client, or not the
 * requested revision without a handshake.
 */
export const connect: (
  connection: Connection,
  options: ConnectOptions,
) => Effect.Effect<McpClient, Failure, Scope.Scope> = Effect.fn("McpClient.connect")(
  function* (connection, options) {
    const listeners = makeListeners()
    const answer = elicitationHandler(options)
    let statement: ClientStatement | undefined
    const client = yield* make(connection, {
      handlers: handlersOf(options, answer, listeners),
      exchange: exchange(() => statement, answer),
    })
    const server = yield* negotiate(client, options, (next) => {
      statement = next
    })

    const callTool: McpClient["callTool"] = (name, args, how) => {
      const params = { name, arguments: args }
      return how?.onProgress === undefined
        ? client.request(ToolsCall, params, how)
        : listeners.during(how.onProgress, (progressToken) =>
            client.request(ToolsCall, { ...params, _meta: { progressToken } }, how),
          )
    }
    const run = (tool: ToolDefinition, args: unknown, how: ToolCallOptions | undefined) =>
      Effect.map(callTool(tool.name, args, how), toTurnResult)
    return {
      client,
      server,
      callTool: Effect.fn("McpClient.callTool")(callTool),
      codex: Effect.fn("McpClient.codex")((args: CodexArguments, how?: ToolCallOptions) =>
        run(Codex, args, how),
      ),
      codexReply: Effect.fn("McpClient.codexReply")(
        (args: CodexReplyArguments, how?: ToolCallOptions) => run(CodexReply, args, how),
      ),
      listTools: Effect.withSpan(allTools(client), "McpClient.listTools"),
    }
  },
)
