/**
 * HTTP with SSE, the transport of 2024-11-05: a GET opens the connection and its only stream, whose first event names the
 * address for the client's messages; each message is a POST there. The connection ends with the GET.
 *
 *   GET  /sse ──────────────────────▶ event `endpoint`, then every message of the server
 *   POST /messages?sessionId=… ─────▶ 202; the response comes on the stream
 */
import {
  type Connection,
  ConnectionClosed,
  type ConnectionPeer,
  type Frame,
} from "@colloquy/protocol/Connection"
import { parseFrame } from "@colloquy/protocol/JsonRpc"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { onFinish } from "../guard/Draining.ts"
import { makeStart } from "./Background.ts"
import { EventLog } from "./EventLog.ts"
import { refusal, refused, unreadBody } from "./HttpError.ts"
import { type McpSessionsOptions, newId, type Serve } from "./McpSessions.ts"
import { sseResponse } from "./SseResponse.ts"
import { traced } from "./TracedRequest.ts"

type HttpRequest = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** The handlers of the two routes; each request is made on behalf of the principal that the guard has authenticated. */
interface SseTransport {
  readonly open: (
    request: HttpRequest,
    principal: string,
  ) => Effect.Effect<Response, never, Scope.Scope>
  readonly post: (request: HttpRequest, principal: string) => Effect.Effect<Response>
}

interface Open {
  readonly principal: string
  readonly frames: Queue.Queue<Frame, Cause.Done>
  readonly end: Effect.Effect<void>
}

/** Frames that the Peer has not taken; a POST waits while there are more. */
const maxFrames = 16

const closed = new ConnectionClosed({ reason: "the client has closed its stream" })

/** The first event of a stream: where the client sends its messages. */
const endpointEvent = (messages: string, id: string): string =>
  `event: endpoint\ndata: ${messages}?sessionId=${id}\n\n`

const sessionOf = (request: HttpRequest): string | null =>
  new URL(request.url, "http://localhost").searchParams.get("sessionId")

const sendTo =
  (log: EventLog): Connection["send"] =>
  (texts) =>
    Effect.suspend(() => {
      if (log.isEnded) return Effect.fail(closed)
      for (const text of texts) log.push(text)
      return log.isFull ? log.hasRoom : Effect.void
    })

/** The connection of a stream: it reads the frames of the POSTs and writes to the log of the stream. */
const connectionOf = (
  peer: ConnectionPeer,
  frames: Queue.Queue<Frame, Cause.Done>,
  log: EventLog,
  gone: Latch.Latch,
): Connection => ({
  peer,
  receive: Queue.takeAll(frames),
  send: sendTo(log),
  flush: Effect.void,
  // Nobody else can read what is sent from now on.
  broken: gone.await,
})

/** Hands the message of a POST to its connection; the response to it comes on the stream. */
const deliver = Effect.fnUntraced(
  function* (request: HttpRequest, { frames }: Open) {
    const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase()
    if (type !== "application/json") return refused(415, "content-type: expected application/json")
    const text = yield* request.text
    const message = parseFrame(text)
    // The Peer responds to an unusable request with an id, on the stream; the others have nothing to be matched by.
    if (message._tag === "Invalid" && message.id === null) return refusal(400, message.error)
    const [, sent] = traced(message, text, request.headers)
    yield* Queue.offer(frames, { _tag: "Text", text: sent })
    return HttpServerResponse.empty({ status: 202 })
  },
  Effect.catch((error) => Effect.succeed(unreadBody(error))),
)

const tooMany = refused(503, "more sessions than the server allows", { "retry-after": "30" })

/**
 * Creates the handlers; the end of the scope ends every connection.
 *
 * @param messages path of the route of messages
 */
export const make = Effect.fnUntraced(function* (
  serve: Serve,
  messages: string,
  options: McpSessionsOptions = {},
) {
  const start = yield* makeStart
  const connections = new Map<string, Open>()
  const each = (run: (open: Open) => Effect.Effect<unknown>) =>
    Effect.suspend(() => Effect.forEach([...connections.values()], run, { discard: true }))
  yield* Effect.addFinalizer(() => each(({ end }) => end))
  yield* onFinish(each(({ frames }) => Queue.end(frames)))
  const open: SseTransport["open"] = Effect.fnUntraced(function* (request, principal) {
    if (connections.size >= (options.maxSessions ?? 1024)) return tooMany
    const id = yield* newId
    const frames = yield* Queue.bounded<Frame, Cause.Done>(maxFrames)
    const log = new EventLog(options)
    const gone = Latch.makeUnsafe(false)
    const reader = log.attach()
    const end = Effect.suspend(() => {
      connections.delete(id)
      log.end("the connection has ended")
      gone.openUnsafe()
      return Effect.asVoid(Queue.end(frames))
    })
    connections.set(id, { principal, frames, end })
    yield* Effect.addFinalizer(() => end)
    const peer = { principal, headers: { ...request.headers } }
    yield* start(Effect.ensuring(serve(connectionOf(peer, frames, log, gone)), end))
    return sseResponse(reader, { greeting: endpointEvent(messages, id), onEnd: end })
  })
  const post: SseTransport["post"] = (request, principal) => {
    const found = connections.get(sessionOf(request) ?? "")
    return found?.principal === principal
      ? deliver(request, found)
      : Effect.succeed(refused(404, "sessionId: no such session"))
  }
  return { open, post } satisfies SseTransport
})
