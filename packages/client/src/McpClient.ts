/**
 * The client of the dialect `codex-mcp`: the handshake, the two tools, the events, the questions. Everything else of
 * the dialect goes through `client`.
 */
import { type Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import type { AnyEventMsg } from "@colloquy/protocol/EventMsg"
import type { JsonRpcError, RequestId } from "@colloquy/protocol/JsonRpc"
import {
  type CallToolResult,
  Cancelled,
  CodexEvent,
  CodexMcp,
  Elicit,
  Initialize,
  type InitializeParams,
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
import { handshake } from "./internal/McpHandshake.ts"
import { type Answerer, exchange, type Said } from "./internal/Stateless.ts"
import {
  make as makeListeners,
  type OnProgress,
  type ProgressListeners,
} from "./internal/ProgressListeners.ts"

type MethodsOf<D> = D extends Dialect<infer C, infer S> ? { readonly c: C; readonly s: S } : never
type ClientMethods = MethodsOf<typeof CodexMcp>["c"]
type ServerMethods = MethodsOf<typeof CodexMcp>["s"]

/** One `codex/event`, flat. */
export interface McpEvent {
  /** The tool call that runs the conversation. */
  readonly requestId: RequestId | undefined
  /** From servers of 0.120 on. */
  readonly threadId: string | undefined
  /** The submission the event belongs to. */
  readonly id: string
  readonly msg: AnyEventMsg
}

export interface ConnectOptions {
  readonly clientInfo: InitializeParams["clientInfo"]
  readonly capabilities?: InitializeParams["capabilities"]
  /**
   * The revision to offer; default the newest one with a handshake that is spoken here. One without is not offered but
   * spoken, if the server speaks it; `auto` speaks the newest of those, and shakes hands where the server does not.
   */
  readonly protocolVersion?: string
  /**
   * False: asks for none of the events that `onEvent` would hear. Without a handshake they are asked for when there is
   * an `onEvent`. A given `capabilities.experimental` wins.
   */
  readonly events?: false
  /** Runs for one event after the other, in order; all events of a call before its answer. See `ClientOptions.handlers`. */
  readonly onEvent?: (event: McpEvent) => Effect.Effect<void>
  /**
   * Answers a question of the server: may this command run, may this patch be applied? With a decision, or with an
   * answer of the specification for any other form. With it the client declares that it can be asked. Questions run
   * beside each other, each after the handlers of the events before it; one that the server takes back is interrupted.
   */
  readonly onElicitation?: (
    question: ElicitParams,
  ) => Effect.Effect<ReviewDecision | ElicitResult, JsonRpcError>
}

export interface ToolCallOptions extends Client.RequestOptions {
  /** Asks the server to tell how far the call is; runs like `onEvent`, and no more when the call has ended. */
  readonly onProgress?: OnProgress
}

/** The result of `codex` or `codex-reply`, and what is read from it most. */
export interface TurnResult extends CallToolResult {
  /** The agent's last message, or what went wrong when `isError`. */
  readonly text: string
  /** Names the conversation for `codexReply`; servers before 0.120 send none here. */
  readonly threadId: string | undefined
}

type Tool = ResultOf<typeof ToolsList>["tools"][number]
type Failure = JsonRpcError | ConnectionClosed

export interface McpClient {
  readonly client: Client.Client<ClientMethods>
  /** The server's answer to the handshake, or the same of what it says without one. */
  readonly server: ResultOf<typeof Initialize>
  /** Starts a conversation and returns when its first turn has ended. Interruption cancels the turn. */
  readonly codex: (
    args: CodexArguments,
    options?: ToolCallOptions,
  ) => Effect.Effect<TurnResult, Failure>
  /** Runs one more turn of a conversation. */
  readonly codexReply: (
    args: CodexReplyArguments,
    options?: ToolCallOptions,
  ) => Effect.Effect<TurnResult, Failure>
  /** Calls any tool by its name; a tool that fails gives a result with `isError`. */
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

/** The typed client without the handshake: `ping` is answered, interrupted requests are cancelled. */
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

/** A block that the server means for the model alone is no part of what the agent said. */
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

/** A form that asks for no decision has no place for one: the word says what became of the form. */
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

/** The handlers of what the caller wants to hear of. */
const handlersOf = (
  { onEvent }: ConnectOptions,
  answer: Answerer | undefined,
  listeners: ProgressListeners,
): Partial<Handlers<ServerMethods, Client.ServerCall>> => ({
  [Progress._tag]: listeners.told,
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
  // A server that gives the same cursor twice would never come to an end.
  while (page.nextCursor !== undefined && !seen.has(page.nextCursor)) {
    seen.add(page.nextCursor)
    page = yield* client.request(ToolsList, { cursor: page.nextCursor })
    tools.push(...page.tools)
  }
  return tools
})

const answererOf = ({ onElicitation }: ConnectOptions): Answerer | undefined =>
  onElicitation === undefined
    ? undefined
    : (question) =>
        Effect.map(onElicitation(question), (answer) =>
          typeof answer === "string" ? resultOf(question, answer) : answer,
        )

/**
 * Meets the server and gives the client, for the length of the scope. Fails with `JsonRpcError` of code -32602 when the
 * server speaks no revision that is spoken here, or not the one without a handshake that was asked for.
 */
export const connect = (
  connection: Connection,
  options: ConnectOptions,
): Effect.Effect<McpClient, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const listeners = makeListeners()
    const answer = answererOf(options)
    let said: Said | undefined
    const client = yield* make(connection, {
      handlers: handlersOf(options, answer, listeners),
      exchange: exchange(() => said, answer),
    })
    const server = yield* handshake(client, options, (next) => {
      said = next
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
      callTool,
      codex: (args, how) => run(Codex, args, how),
      codexReply: (args, how) => run(CodexReply, args, how),
      listTools: allTools(client),
    }
  })
