/**
 * What the transports of tool servers have in common: the connection that they provide, and the translation between
 * JSON-RPC messages and those of `McpClient`. Opens nothing.
 */
import { Cancelled } from "@colloquy/protocol/mcp/CodexMcp"
import * as JsonRpc from "@colloquy/protocol/JsonRpc"
import type * as McpClient from "effect/ai/McpClient"
import { McpClientError, TransportError } from "effect/ai/McpClientError"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Handshake from "./Handshake.ts"
import type { Answering } from "./ServerRequests.ts"

/** Longest message; a whole image in base64 fits. */
export const maxMessageBytes = 16 * 1024 * 1024
/** Why a connection is over: the server closed it, or it was stopped because of a fault. */
export type Ending =
  | { readonly _tag: "Closed" }
  | { readonly _tag: "Stopped"; readonly why: string }

/** Each message in a text, with its share of the bytes. JSON-RPC batches are accepted in every revision of MCP. */
export const messagesOf = (
  text: string,
  bytes: number,
): ReadonlyArray<readonly [message: JsonRpc.Message, bytes: number]> => {
  const frame = JsonRpc.parseFrame(text)
  if (frame._tag !== "Batch") return [[frame, bytes]]
  const { messages } = frame
  if (messages.length === 0) return [[JsonRpc.noBatches(), bytes]]
  return messages.map((message) => [message, bytes / messages.length])
}

/** A connection to a tool server, and how it ends. */
export interface ToolTransport {
  /** Transport of `McpClient` over the connection. */
  readonly transport: McpClient.Transport
  /** Resolves with the reason when the connection is over. */
  readonly ended: Effect.Effect<string>
  /** True as soon as `ended` can resolve. */
  readonly isOver: () => boolean
  /** Ends the connection with this reason, unless it has ended. */
  readonly end: (ending: Ending) => Effect.Effect<void>
  /** Closes the direction to the server. */
  readonly endInput: Effect.Effect<void>
}

/** Failure of a call because of the transport. */
export const failed = (description: string): McpClientError =>
  new McpClientError({ reason: new TransportError({ description }) })

/** The notification that cancels a call. */
export const cancelled = (id: McpSchema.RequestId): string =>
  JsonRpc.notificationText(Cancelled._tag, { requestId: id })

/** What `McpClient` receives as the response to one of its requests. */
export const responseOf = (
  request: McpSchema.JsonRpcRequest,
  message: JsonRpc.Success | JsonRpc.Failure,
): McpSchema.JsonRpcResponse => {
  const { id, method } = request
  if (message._tag === "Success") {
    return { jsonrpc: "2.0", id, result: Handshake.incoming(method, message.result) }
  }
  const { code, data, message: text } = message.error
  return {
    jsonrpc: "2.0",
    id,
    error: { code, message: text, ...(data === undefined ? {} : { data }) },
  }
}

/** The text of a request or notification of `McpClient`. */
export const textOf = (
  message: McpSchema.JsonRpcRequest | McpSchema.JsonRpcNotification,
): string => {
  const params = Handshake.outgoing(message.method, message.params)
  return "id" in message && message.id !== undefined
    ? JsonRpc.requestText(message.id, message.method, params)
    : JsonRpc.notificationText(message.method, params)
}

/** Logs what is wrong with a response, because the call that it fails shows only the server's words. */
export const logFault = (message: JsonRpc.Message): Effect.Effect<void> =>
  message._tag === "Failure" && message.fault !== undefined
    ? Effect.logWarning(`unusable response of a tool server: ${message.fault}`)
    : Effect.void

/** Fails a call because of a defect while it was sent or its response was read. */
export const failCall = (defect: unknown): Effect.Effect<never, McpClientError> =>
  Effect.andThen(
    Effect.logError("a call of a tool server failed", defect),
    Effect.fail(failed("an internal error")),
  )

/** Returns a response to every request of a server, also when answering it fails (L1). */
export const safeAnswer = (answering: Answering, request: JsonRpc.Request): Effect.Effect<string> =>
  Effect.suspend(() => answering(request)).pipe(
    Effect.catchDefect((defect) => {
      const code = JsonRpc.ErrorCode.internalError
      const error = new JsonRpc.JsonRpcError({ code, message: "Internal error" })
      return Effect.as(
        Effect.logError("a request of a tool server failed", defect),
        JsonRpc.failureText(request.id, error),
      )
    }),
  )
