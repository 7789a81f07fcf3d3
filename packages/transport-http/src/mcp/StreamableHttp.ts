/**
 * Streamable HTTP: one endpoint for the handshake revisions with sessions, and for 2026-07-28, which has none.
 *
 *   POST ─┬─ names 2026-07-28 ──────────▶ StatelessRequest
 *         ├─ `initialize`, no session ──▶ a new session, whose id the response has
 *         └─ session id ────────────────▶ 202, or the responses as JSON or as a stream
 *   GET ──── session id ────────────────▶ the session's stream, or the rest of another one after `Last-Event-ID`
 *   DELETE ─ session id ────────────────▶ the session ends
 */
import type { ConnectionPeer } from "@colloquy/protocol/Connection"
import {
  type Batch,
  idInUse,
  isRequestId,
  type Message,
  noBatches,
  type Notification,
  parseFrame,
  type Request,
  requestText,
} from "@colloquy/protocol/JsonRpc"
import { Cancelled, Initialize } from "@colloquy/protocol/mcp/CodexMcp"
import { handshakeVersions, MetaKey, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import { onFinish } from "../guard/Draining.ts"
import { makeStart } from "./Background.ts"
import { Deadlines } from "./Deadlines.ts"
import type { LoggedMessage } from "./EventLog.ts"
import { jsonText, refusal, refused, unreadBody } from "./HttpError.ts"
import { type Exchange, getStream, isResponseText, type McpSession } from "./McpSession.ts"
import * as McpSessions from "./McpSessions.ts"
import { continuedEvent, primingEvent, retryHint, sseResponse } from "./SseResponse.ts"
import * as StatelessRequest from "./StatelessRequest.ts"
import { traced } from "./TracedRequest.ts"

/** The header that names the session. */
const sessionHeader = "mcp-session-id"
const versionHeader = "mcp-protocol-version"

/** How long the responses to a POST may take to be sent as JSON; then a stream is opened. In milliseconds. */
const jsonWithinMs = 100

/** The last revision that reads several messages in one array. */
const batchRevision = "2025-03-26"

/** From this revision on clients read an event with empty data, by which they can continue a stream from its start. */
const primedSince = "2025-11-25"

type HttpRequest = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Serves the requests of the endpoint; each on behalf of the principal that the guard has authenticated. */
interface StreamableHttp {
  readonly handle: (
    request: HttpRequest,
    principal: string,
  ) => Effect.Effect<Response, never, Scope.Scope>
}

/** What the official clients send with each POST, so that it need not be read each time. */
const usualAccept = "application/json, text/event-stream"

const acceptsBoth = (request: HttpRequest): boolean =>
  request.headers["accept"] === usualAccept ||
  (accepts(request, "application/json") && accepts(request, "text/event-stream"))

const isJson = (request: HttpRequest): boolean => {
  const type = request.headers["content-type"]
  return (
    type === "application/json" || type?.split(";")[0]?.trim().toLowerCase() === "application/json"
  )
}

const peerOf = (request: HttpRequest, principal: string): ConnectionPeer => ({
  principal,
  headers: { ...request.headers },
})

const accepts = (request: HttpRequest, type: string): boolean => {
  const accept = request.headers["accept"]
  if (accept === undefined) return true
  const [kind] = type.split("/")
  return accept
    .split(",")
    .map((one) => one.split(";")[0]?.trim().toLowerCase())
    .some((one) => one === type || one === `${kind}/*` || one === "*/*")
}

const eventId = (stream: number) => (number: number) => `${stream}-${number}`

const readEventId = (text: string): readonly [stream: number, number: number] | undefined => {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(text)
  return match === null ? undefined : [Number(match[1]), Number(match[2])]
}

const notAcceptable = (types: string) => refused(406, `accept: expected ${types}`)

const isStateless = (request: HttpRequest, message: Message | Batch): boolean => {
  const version = request.headers[versionHeader]
  if (statelessVersions.some((one) => one === version)) return true
  // A revision that this server does not have is refused by the era that names it in each request.
  return (
    (message._tag === "Request" || message._tag === "Notification") &&
    memberOf(memberOf(message.params, "_meta"), MetaKey.protocolVersion) !== undefined
  )
}

const versionFault = (request: HttpRequest): Response | undefined => {
  const version = request.headers[versionHeader]
  return version === undefined || handshakeVersions.some((one) => one === version)
    ? undefined
    : refused(400, `MCP-Protocol-Version: expected one of ${handshakeVersions.join(", ")}`)
}

const isInitialize = (message: Message | Batch): message is Request =>
  message._tag === "Request" && message.method === Initialize._tag

const tooMany = refused(503, "more sessions than the server allows", { "retry-after": "30" })

/** A client ends its attempts with this status; an empty stream it would continue for ever. */
const nothingLeft = HttpServerResponse.empty({ status: 204 })

const unknownSession = refused(404, "the session has ended or never was: initialize again")

/** The revision that the response to `initialize` names; undefined for an error. */
const chosenRevision = (text: string): string | undefined => {
  const { result } = JSON.parse(text) as { readonly result?: unknown }
  const version = memberOf(result, "protocolVersion")
  return typeof version === "string" ? version : undefined
}

/** The endpoint with its sessions. */
class Endpoint implements StreamableHttp {
  private readonly sessions: McpSessions.McpSessions
  private readonly serve: McpSessions.Serve
  private readonly requests: StatelessRequest.OpenRequests
  private readonly deadlines: Deadlines
  private readonly closings: Deadlines | undefined
  private readonly options: McpSessions.McpSessionsOptions

  constructor(
    sessions: McpSessions.McpSessions,
    serve: McpSessions.Serve,
    requests: StatelessRequest.OpenRequests,
    deadlines: Deadlines,
    closings: Deadlines | undefined,
    options: McpSessions.McpSessionsOptions,
  ) {
    this.sessions = sessions
    this.serve = serve
    this.requests = requests
    this.deadlines = deadlines
    this.closings = closings
    this.options = options
  }

  readonly handle: StreamableHttp["handle"] = (request, principal) => {
    const version = request.headers[versionHeader]
    if (request.method !== "POST" && statelessVersions.some((one) => one === version)) {
      return Effect.succeed(refused(405, `expected POST for ${version}`, { allow: "POST" }))
    }
    switch (request.method) {
      case "POST":
        return this.post(request, principal)
      case "GET":
        return this.inSession(request, principal, (session) =>
          Effect.suspend(() => this.get(request, session)),
        )
      case "DELETE":
        return this.inSession(request, principal, (session) =>
          Effect.as(this.sessions.end(session), HttpServerResponse.empty({ status: 204 })),
        )
      default:
        return Effect.succeed(
          refused(405, "expected POST, GET or DELETE", { allow: "GET, POST, DELETE" }),
        )
    }
  }

  private readonly post = Effect.fnUntraced(
    function* (this: Endpoint, request: HttpRequest, principal: string) {
      if (!acceptsBoth(request)) return notAcceptable("application/json and text/event-stream")
      if (!isJson(request)) return refused(415, "content-type: expected application/json")
      const text = yield* request.text
      const message = parseFrame(text)
      if (message._tag === "Invalid") return refusal(400, message.error, message.id)
      if (isStateless(request, message)) {
        return message._tag === "Request" || message._tag === "Notification"
          ? yield* this.stateless(peerOf(request, principal), message, text)
          : refused(400, "expected one request or notification")
      }
      if (request.headers[sessionHeader] === undefined && isInitialize(message)) {
        return yield* this.initialize(peerOf(request, principal), message, text)
      }
      return yield* this.inSession(request, principal, (session) =>
        this.exchange(session, ...traced(message, text, request.headers)),
      )
    },
    Effect.catch((error) => Effect.succeed(unreadBody(error))),
  )

  private stateless(peer: ConnectionPeer, message: Request | Notification, text: string) {
    const { options, requests, serve } = this
    return StatelessRequest.respond(serve, requests, peer, { message, text }, options)
  }

  private readonly initialize = Effect.fnUntraced(function* (
    this: Endpoint,
    peer: ConnectionPeer,
    message: Request,
    text: string,
  ) {
    const session = yield* this.sessions.open(peer)
    if (session === undefined) return tooMany
    const exchange = session.begin([message.id])
    yield* session.deliver(text)
    const reader = exchange.log.attach()
    const messages: Array<LoggedMessage> = []
    while (true) {
      const taken = yield* reader.take
      if (taken === undefined) break
      messages.push(...taken)
    }
    reader.detach()
    const response = messages.find((one) => isResponseText(one.text))
    session.revision = response === undefined ? undefined : chosenRevision(response.text)
    if (response === undefined || session.revision === undefined) {
      yield* this.sessions.end(session)
      return response === undefined ? unknownSession : jsonText(response.text)
    }
    const headers = { [sessionHeader]: session.id }
    if (messages.length === 1) session.forget(exchange)
    return messages.length === 1
      ? jsonText(response.text, 200, headers)
      : sseResponse(reader, { first: messages, idOf: eventId(exchange.stream), headers })
  })

  private inSession<R>(
    request: HttpRequest,
    principal: string,
    respond: (session: McpSession) => Effect.Effect<Response, never, R>,
  ): Effect.Effect<Response, never, R> {
    const id = request.headers[sessionHeader]
    const fault =
      versionFault(request) ??
      (id === undefined ? refused(400, "Mcp-Session-Id: expected the id of a session") : undefined)
    if (fault !== undefined || id === undefined) return Effect.succeed(fault ?? unknownSession)
    const session = this.sessions.find(id, principal)
    if (session === undefined) return Effect.succeed(unknownSession)
    return Effect.ensuring(
      respond(session),
      Effect.map(Clock.currentTimeMillis, (now) => {
        session.usedAt = now
      }),
    )
  }

  private exchange(
    session: McpSession,
    message: Message | Batch,
    text: string,
  ): Effect.Effect<Response> {
    if (message._tag === "Request") {
      const isTwice = session.isInFlight(message.id)
      const id = isTwice ? session.freshId() : message.id
      const exchange = session.begin([id], isTwice ? JSON.stringify(message.id) : undefined)
      const sent = isTwice ? requestText(id, message.method, message.params) : text
      return this.responses(session, exchange, sent)
    }
    if (message._tag !== "Batch") {
      return Effect.map(session.deliver(text), () => {
        const id =
          message._tag === "Notification" && message.method === Cancelled._tag
            ? memberOf(message.params, "requestId")
            : undefined
        if (isRequestId(id)) session.cancelled(id)
        return HttpServerResponse.empty({ status: 202 })
      })
    }
    if (session.revision !== batchRevision) return Effect.succeed(refusal(400, noBatches().error))
    const ids = message.messages.flatMap((one) => (one._tag === "Request" ? [one.id] : []))
    const inUse = ids.find((id) => session.isInFlight(id))
    if (inUse !== undefined) return Effect.succeed(refusal(400, idInUse(inUse)))
    if (ids.length === 0) {
      return Effect.as(session.deliver(text), HttpServerResponse.empty({ status: 202 }))
    }
    return this.responses(session, session.begin(ids), text)
  }

  /** The responses to a POST: as JSON when they are there soon and alone, else as a stream. */
  private readonly responses = Effect.fnUntraced(function* (
    this: Endpoint,
    session: McpSession,
    exchange: Exchange,
    text: string,
  ) {
    const { log, stream } = exchange
    const reader = log.attach()
    const cancel = yield* this.deadlines.after(reader.wake)
    const first = yield* session.deliver(text).pipe(
      Effect.andThen(reader.take),
      // The client is gone: that cancels nothing, and the stream can be continued.
      Effect.onInterrupt(() => Effect.sync(reader.detach)),
      Effect.interruptible,
    )
    cancel()
    const [only, ...others] = first ?? []
    if (only !== undefined && others.length === 0 && log.isEnded && isResponseText(only.text)) {
      reader.detach()
      session.forget(exchange)
      return jsonText(only.text)
    }
    return yield* this.stream(session, stream, reader, first ?? [])
  })

  private stream(
    session: McpSession,
    stream: number,
    reader: ReturnType<Exchange["log"]["attach"]>,
    first: ReadonlyArray<LoggedMessage>,
    isNew = true,
  ): Effect.Effect<Response> {
    const idOf = eventId(stream)
    const canContinue = (session.revision ?? "") >= primedSince
    // A stream that is dropped before its first message must be continued at the same place, and not from its start.
    const start = idOf(reader.after)
    const greeting = canContinue ? primingEvent(start) : isNew ? retryHint : continuedEvent(start)
    const onEnd = Effect.map(Clock.currentTimeMillis, (now) => {
      reader.detach()
      session.usedAt = now
    })
    if (this.closings === undefined || !canContinue || stream === getStream) {
      return Effect.succeed(sseResponse(reader, { first, idOf, greeting, onEnd }))
    }
    return Effect.map(this.closings.after(reader.detach), (cancel) =>
      sseResponse(reader, {
        first,
        idOf,
        greeting,
        onEnd: Effect.andThen(Effect.sync(cancel), onEnd),
      }),
    )
  }

  private get(request: HttpRequest, session: McpSession): Effect.Effect<Response> {
    if (!accepts(request, "text/event-stream")) {
      return Effect.succeed(notAcceptable("text/event-stream"))
    }
    const last = request.headers["last-event-id"]
    if (last === undefined) {
      const log = session.log(getStream)
      if (log === undefined) return Effect.succeed(unknownSession)
      return log.isRead
        ? Effect.succeed(refused(409, "the session's stream is being read by another request"))
        : this.stream(session, getStream, log.attach(), [])
    }
    const [stream, number] = readEventId(last) ?? []
    const log = stream === undefined ? undefined : session.log(stream)
    if (stream === undefined || number === undefined || log?.canContinue(number) !== true) {
      return Effect.succeed(
        refused(400, "Last-Event-ID: expected an event of this session that is still kept"),
      )
    }
    return log.endsWith(number)
      ? Effect.succeed(nothingLeft)
      : this.stream(session, stream, log.attach(number), [], false)
  }
}

/** Creates the endpoint; the end of the scope ends its sessions and the requests without one. */
export const make = Effect.fnUntraced(function* (
  serve: McpSessions.Serve,
  options: McpSessions.McpSessionsOptions = {},
) {
  const sessions = yield* McpSessions.make(serve, options)
  const scope = yield* Effect.scope
  const requests = new StatelessRequest.OpenRequests(yield* makeStart)
  const deadlines = new Deadlines(scope, jsonWithinMs)
  const { closeStreamsAfter } = options
  const closings =
    closeStreamsAfter === undefined
      ? undefined
      : new Deadlines(scope, Duration.toMillis(closeStreamsAfter))
  yield* onFinish(requests.finish)
  const endpoint: StreamableHttp = new Endpoint(
    sessions,
    serve,
    requests,
    deadlines,
    closings,
    options,
  )
  return endpoint
})
