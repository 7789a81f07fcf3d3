/**
 * Answers the first message of a connection if it is an ordinary `initialize`, with little code, so that a server can
 * load the rest while its client reads the response. Every other first message, valid or not, is left to the server.
 *
 *     first frame ──┬─ `initialize` of the handshake era ─► response ─► the connection without it, and its params
 *                   └─ anything else, end of input ──────────────────► the connection with it
 *
 * Keeps L1: the request is either answered here or passed on, never both.
 */
import type { Connection, Frame } from "@colloquy/protocol/Connection"
import { parseFrame, type RequestId, successText } from "@colloquy/protocol/JsonRpc"
import {
  initializeCodec,
  initializeMethod,
  type InitializeParams,
} from "@colloquy/protocol/mcp/Initialize"
import { MetaKey } from "@colloquy/protocol/mcp/Revisions"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { answer, preceded } from "./internal/EarlyAnswer.ts"
import { type InitializeOptions, initializeResult } from "./mcp/methods/InitializeResult.ts"

/** A connection whose first message was read. */
export interface Opened {
  /** Receives the messages that were not answered. */
  readonly connection: Connection
  /** Params of the `initialize` that was answered, for `McpServerOptions`. Absent if none was. */
  readonly initializeParams?: InitializeParams
}

interface InitializeRequest {
  readonly id: RequestId
  readonly params: InitializeParams
}

/** The request of a frame; undefined if it is another message, or one that gets an error. */
const requestOf = (frame: Frame | undefined): InitializeRequest | undefined => {
  if (frame?._tag !== "Text") return undefined
  const message = parseFrame(frame.text)
  if (message._tag !== "Request" || message.method !== initializeMethod) return undefined
  // A request that names its revision belongs to the stateless era, which has no such method.
  const revision = memberOf(memberOf(message.params, "_meta"), MetaKey.protocolVersion)
  if (revision !== undefined) return undefined
  const params = initializeCodec().decodeParams(message.params)
  return params._tag === "Failure"
    ? undefined
    : { id: message.id, params: params.success as InitializeParams }
}

/** The text of the response; undefined if the result has no wire form. */
const responseTo = (
  { id, params }: InitializeRequest,
  options: InitializeOptions,
): string | undefined => {
  const encoded = initializeCodec().encodeResult(initializeResult(params, options))
  return encoded._tag === "Failure" ? undefined : successText(id, encoded.success)
}

/**
 * Waits for the first message and answers it if it is an ordinary `initialize`. The response is the one that
 * `McpServer.serve` sends with the same options.
 */
export const open = (connection: Connection, options: InitializeOptions): Effect.Effect<Opened> =>
  Effect.matchEffect(connection.receive, {
    onFailure: () => Effect.succeed({ connection: { ...connection, receive: Cause.done() } }),
    onSuccess: (frames) => {
      const request = requestOf(frames[0])
      const text = request === undefined ? undefined : responseTo(request, options)
      if (request === undefined || text === undefined) {
        return Effect.succeed({ connection: preceded(connection, frames) })
      }
      return Effect.as(
        // A client that is gone is noticed by the server, whose next read ends.
        Effect.ignore(answer(connection, text)),
        { connection: preceded(connection, frames.slice(1)), initializeParams: request.params },
      )
    },
  })
