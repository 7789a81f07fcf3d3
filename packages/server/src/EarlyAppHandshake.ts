/**
 * Answers the first message of a connection of the app-server if it is an ordinary `initialize`, with little code, so that
 * a server can load the rest while its client reads the response. Every other first message is left to the server.
 *
 *     first frame ──┬─ `initialize` ─► response ─► the connection with it, without the server's own response to it
 *                   └─ anything else, end of input ─────────────► the connection with it
 *
 * The server sees the request as well, because it learns from it what the client declares and in which form the client
 * reads messages. Keeps L1: of the two responses the client gets one.
 */
import type { Connection, Frame } from "@colloquy/protocol/Connection"
import { parseFrame, type RequestId, successText } from "@colloquy/protocol/JsonRpc"
import {
  initializeCodec,
  initializeMethod,
  type InitializeParams,
  type ServerIdentity,
} from "@colloquy/protocol/app/Initialize"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { userAgentText } from "./app/UserAgentText.ts"
import { answer, preceded } from "./internal/EarlyAnswer.ts"
import { Envelope } from "./jsonrpc/Envelope.ts"

interface EarlyAnswer {
  readonly id: RequestId
  readonly text: string
}

/** What the server says about itself, as `AppServerOptions` has it. */
export interface EarlyOptions {
  readonly userAgent: string
  readonly identity?: Omit<ServerIdentity, "userAgent">
}

/** The response to a frame; undefined if it is another message, or one that gets an error. */
const answerTo = (
  frame: Frame | undefined,
  { identity, userAgent }: EarlyOptions,
): EarlyAnswer | undefined => {
  if (frame?._tag !== "Text") return undefined
  const message = parseFrame(frame.text)
  if (message._tag !== "Request" || message.method !== initializeMethod) return undefined
  const codec = initializeCodec()
  const params = codec.decodeParams(message.params)
  if (params._tag === "Failure") return undefined
  const { clientInfo } = params.success as InitializeParams
  const result = codec.encodeResult({
    userAgent: userAgentText(userAgent, clientInfo),
    ...identity,
  })
  if (result._tag === "Failure") return undefined
  const envelope = new Envelope(true)
  envelope.observe([frame])
  return { id: message.id, text: successText(message.id, result.success, envelope.form) }
}

const isResponse = (message: ReturnType<typeof parseFrame>, id: RequestId): boolean =>
  (message._tag === "Success" || message._tag === "Failure") &&
  JSON.stringify(message.id) === JSON.stringify(id)

/** The connection without the first response to that id among what is sent. */
const withoutResponse = (connection: Connection, id: RequestId): Connection => {
  const { sendNow } = connection
  let isPending = true
  const rest = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
    const found = texts.findIndex((text) => isResponse(parseFrame(text), id))
    if (found === -1) return texts
    isPending = false
    return texts.toSpliced(found, 1)
  }
  return {
    ...connection,
    send: (texts, options) =>
      Effect.suspend(() => {
        if (!isPending) return connection.send(texts, options)
        const left = rest(texts)
        return left.length === 0 ? Effect.void : connection.send(left, options)
      }),
    ...(sendNow === undefined
      ? {}
      : { sendNow: (texts, options) => !isPending && sendNow(texts, options) }),
  }
}

/**
 * Waits for the first message and answers it if it is an ordinary `initialize`. The response is the one that
 * `AppServer.serve` sends with the same options.
 */
export const open = (connection: Connection, options: EarlyOptions): Effect.Effect<Connection> =>
  Effect.matchEffect(connection.receive, {
    onFailure: () => Effect.succeed({ ...connection, receive: Cause.done() }),
    onSuccess: (frames) => {
      const early = answerTo(frames[0], options)
      const opened = preceded(connection, frames)
      return early === undefined
        ? Effect.succeed(opened)
        : Effect.as(
            // A client that is gone is noticed by the server, whose next read ends.
            Effect.ignore(answer(connection, early.text)),
            withoutResponse(opened, early.id),
          )
    },
  })
