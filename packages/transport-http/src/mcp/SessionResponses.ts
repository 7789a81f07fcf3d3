/**
 * The responses to requests of a session: to a POST as JSON when they are there soon and alone, else as a stream, and to a
 * GET the session's own stream, or the rest of another one. A client that is gone cancels nothing: its stream can be
 * continued.
 */
import {
  type Batch,
  idInUse,
  isRequestId,
  type Message,
  noBatches,
  requestText,
} from "@colloquy/protocol/JsonRpc"
import { Cancelled } from "@colloquy/protocol/mcp/CodexMcp"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import { Deadlines } from "./Deadlines.ts"
import type { LoggedMessage } from "./EventLog.ts"
import { jsonText, refusal, refused } from "./HttpError.ts"
import { type Exchange, getStream, isResponseText, type McpSession } from "./McpSession.ts"
import { accepts } from "./RequestHeaders.ts"
import { continuedEvent, primingEvent, retryHint, sseResponse } from "./SseResponse.ts"

/** How long the responses to a POST may take to be sent as JSON; then a stream is opened. In milliseconds. */
const jsonWithinMs = 100

/** The last revision that reads several messages in one array. */
const batchRevision = "2025-03-26"

/** From this revision on clients read an event with empty data, by which they can continue a stream from its start. */
const primedSince = "2025-11-25"

type HttpRequest = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** The ids of the events of a stream. */
export const eventId = (stream: number) => (number: number) => `${stream}-${number}`

const readEventId = (text: string): readonly [stream: number, number: number] | undefined => {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(text)
  return match === null ? undefined : [Number(match[1]), Number(match[2])]
}

/** A client ends its attempts with this status; an empty stream it would continue for ever. */
const nothingLeft = HttpServerResponse.empty({ status: 204 })

/** The refusal of a request whose client takes other types only. */
export const notAcceptable = (types: string) => refused(406, `accept: expected ${types}`)

/** The refusal of a request to a session that is not there. */
export const unknownSession = refused(404, "the session has ended or never was: initialize again")

/** See the header. */
export class SessionResponses {
  private readonly deadlines: Deadlines
  private readonly closings: Deadlines | undefined

  /** @param closeStreamsAfter time after which a stream that its client can continue is closed; absent: never */
  constructor(scope: Scope.Scope, closeStreamsAfter: Duration.Input | undefined) {
    this.deadlines = new Deadlines(scope, jsonWithinMs)
    this.closings =
      closeStreamsAfter === undefined
        ? undefined
        : new Deadlines(scope, Duration.toMillis(closeStreamsAfter))
  }

  /** Delivers the message of a POST to the session; resolves with the response to the POST. */
  post(session: McpSession, message: Message | Batch, text: string): Effect.Effect<Response> {
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
    this: SessionResponses,
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

  /** Resolves with the stream that a GET asks for. */
  get(request: HttpRequest, session: McpSession): Effect.Effect<Response> {
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
