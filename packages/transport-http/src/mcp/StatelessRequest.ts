/**
 * Serves one POST of 2026-07-28: a connection of its own, of which nothing is kept. The client that disconnects cancels the
 * request; nothing is sent to it any more.
 */
import {
  type Connection,
  ConnectionClosed,
  type ConnectionPeer,
  type Frame,
} from "@colloquy/protocol/Connection"
import {
  ErrorCode,
  JsonRpcError,
  notificationText,
  type Notification,
  type Request,
} from "@colloquy/protocol/JsonRpc"
import { Cancelled } from "@colloquy/protocol/mcp/CodexMcp"
import { MetaKey, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import { headerFault, type Headers } from "@colloquy/server/mcp/eras/Headers"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Queue from "effect/Queue"
import type { Start } from "./Background.ts"
import { EventLog, type EventLogOptions } from "./EventLog.ts"
import { jsonText, refusal, refused, statusOf } from "./HttpError.ts"
import { isResponseText } from "./McpSession.ts"
import type { Serve } from "./McpSessions.ts"
import { sseResponse } from "./SseResponse.ts"

/** Requests without a session that are served: a server that shuts down ends their input. */
export class OpenRequests {
  private readonly inputs = new Set<Queue.Queue<Frame, Cause.Done>>()
  private readonly start: Start

  /** @param start runs what outlives a request, so that its cancellation is served as well */
  constructor(start: Start) {
    this.start = start
  }

  /** Serves a request, whose input ends with `finish`. */
  serve(input: Queue.Queue<Frame, Cause.Done>, served: Effect.Effect<void>): Effect.Effect<void> {
    this.inputs.add(input)
    return this.start(
      Effect.ensuring(
        served,
        Effect.sync(() => this.inputs.delete(input)),
      ),
    )
  }

  /** Ends the input of all: what is in flight gets its response. */
  readonly finish: Effect.Effect<void> = Effect.suspend(() =>
    Effect.forEach([...this.inputs], (input) => Queue.end(input), { discard: true }),
  )
}

interface OneRequest {
  readonly frames: Queue.Queue<Frame, Cause.Done>
  readonly connection: Connection
  readonly log: EventLog
  /** The client is gone: cancels the request unless it has its response. */
  readonly abandon: Effect.Effect<void>
}

const gone = new ConnectionClosed({ reason: "the client has its response, or is gone" })

const connect = Effect.fnUntraced(function* (
  peer: ConnectionPeer,
  text: string,
  id: Request["id"] | undefined,
  options: EventLogOptions,
) {
  const frames = yield* Queue.bounded<Frame, Cause.Done>(2)
  yield* Queue.offer(frames, { _tag: "Text", text })
  if (id === undefined) yield* Queue.end(frames)
  const log = new EventLog(options)
  const send: Connection["send"] = (texts) =>
    Effect.suspend(() => {
      if (log.isEnded) return Effect.fail(gone)
      let responded = false
      for (const one of texts) {
        responded ||= isResponseText(one)
        log.push(one, responded)
      }
      if (!responded) return log.isFull ? log.hasRoom : Effect.void
      return Effect.asVoid(Queue.end(frames))
    })
  const abandon = Effect.suspend(() => {
    if (log.isEnded || id === undefined) return Effect.void
    log.end()
    const cancelled = notificationText(Cancelled._tag, { requestId: id })
    return Queue.offer(frames, { _tag: "Text", text: cancelled }).pipe(
      Effect.andThen(Queue.end(frames)),
      Effect.asVoid,
    )
  })
  const receive = Queue.takeAll(frames)
  const one: OneRequest = {
    frames,
    connection: { peer, receive, send, flush: Effect.void },
    log,
    abandon,
  }
  return one
})

const codeOf = (text: string): number | undefined => {
  const { error } = JSON.parse(text) as { readonly error?: { readonly code?: number } }
  return error?.code
}

/** Whether the client says what it can do, as it must in each request; the server refuses a request without. */
const isComplete = ({ params }: Request | Notification): boolean => {
  const declared = memberOf(memberOf(params, "_meta"), MetaKey.clientCapabilities)
  return typeof declared === "object" && declared !== null
}

/** A body that names no revision is incomplete; one that does has to be what the headers say. */
const faultOf = (headers: Headers, message: Request | Notification): JsonRpcError | undefined =>
  typeof memberOf(memberOf(message.params, "_meta"), MetaKey.protocolVersion) === "string"
    ? headerFault(headers, message)
    : new JsonRpcError({
        code: ErrorCode.invalidParams,
        message: `Invalid params: params._meta["${MetaKey.protocolVersion}"]: expected a string`,
        data: { supported: statelessVersions },
      })

/**
 * Responds to one message.
 *
 * @param requests serves the message
 */
export const respond = Effect.fnUntraced(function* (
  serve: Serve,
  requests: OpenRequests,
  peer: ConnectionPeer,
  { message, text }: { readonly message: Request | Notification; readonly text: string },
  options: EventLogOptions,
) {
  const id = message._tag === "Request" ? message.id : undefined
  const fault = id === undefined ? undefined : faultOf(peer.headers ?? {}, message)
  if (fault !== undefined) return refusal(400, fault, id)
  const { abandon, connection, frames, log } = yield* connect(peer, text, id, options)
  const reader = log.attach()
  yield* Effect.addFinalizer(() => abandon)
  // A request that the program has left without a response must not keep the client waiting.
  const served = Effect.ensuring(
    serve(connection),
    Effect.sync(() => log.end("the server has ended before it responded")),
  )
  yield* requests.serve(frames, served)
  if (id === undefined) return HttpServerResponse.empty({ status: 202 })
  const first = yield* Effect.interruptible(reader.take)
  const [only, ...others] = first ?? []
  if (only === undefined) return refused(503, "the server has ended before it responded")
  return others.length === 0 && isResponseText(only.text)
    ? jsonText(only.text, statusOf(codeOf(only.text), isComplete(message)))
    : sseResponse(reader, { first: first ?? [], onEnd: abandon })
})
