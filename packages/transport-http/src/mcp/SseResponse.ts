/**
 * A stream of messages as server-sent events. Pulled by the response: what the client has no room for stays in the bounded
 * log (L6). A comment every 15 s keeps proxies from closing a silent stream.
 */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { LoggedMessage, LogReader } from "./EventLog.ts"

/** Common proxies close a response after 30 to 60 s without a byte. */
const keepAliveEvery = Duration.seconds(15)

/** How long a client waits before it connects again, in milliseconds. */
const retryMs = 1000

/** How the messages of a stream are written. */
export interface SseOptions {
  /** Id of an event, by which a client continues. Absent where a stream cannot be continued. */
  readonly idOf?: (number: number) => string
  /** What is sent before the messages: a proxy passes the headers on only with some content. */
  readonly greeting?: string
  /** Messages that were taken before. */
  readonly first?: ReadonlyArray<LoggedMessage>
  /** Headers besides those of every stream. */
  readonly headers?: Readonly<Record<string, string>>
  /** Runs when the response has ended, however it did. */
  readonly onEnd?: Effect.Effect<void>
}

/** The first event of a stream that can be continued: an id without data, which clients do not show. */
export const primingEvent = (id: string): string => `id: ${id}\nretry: ${retryMs}\ndata: \n\n`

/**
 * The same without an event: a client that follows the standard of server-sent events keeps the id, and shows nothing. For
 * revisions whose clients would take empty data for a message.
 */
export const silentId = (id: string): string => `id: ${id}\nretry: ${retryMs}\n\n`

/** The time until a client connects again, without an event: for clients that would take empty data for a message. */
export const retryHint = `retry: ${retryMs}\n\n`

const eventText = ({ number, text }: LoggedMessage, idOf: SseOptions["idOf"]): string =>
  `event: message\n${idOf === undefined ? "" : `id: ${idOf(number)}\n`}data: ${text}\n\n`

/** The response that sends what the reader takes until it ends. */
export const sseResponse = (
  reader: LogReader,
  { first = [], greeting = ": stream\n\n", headers, idOf, onEnd = Effect.void }: SseOptions = {},
): HttpServerResponse.HttpServerResponse => {
  const next: Effect.Effect<Arr.NonEmptyReadonlyArray<string>, Cause.Done> = reader.take.pipe(
    Effect.timeoutOption(keepAliveEvery),
    Effect.flatMap((taken) => {
      if (Option.isNone(taken)) return Effect.succeed(Arr.of(": keep-alive\n\n"))
      const messages = taken.value
      return messages === undefined
        ? Cause.done()
        : Effect.succeed(Arr.of(messages.map((one) => eventText(one, idOf)).join("")))
    }),
  )
  const start = greeting + first.map((one) => eventText(one, idOf)).join("")
  const end = Stream.suspend(() => {
    const reason = reader.endReason()
    return reason === undefined ? Stream.empty : Stream.succeed(`: ${reason}\n\n`)
  })
  const body = Stream.succeed(start).pipe(
    Stream.concat(Stream.fromPull(Effect.succeed(next))),
    Stream.concat(end),
  )
  return HttpServerResponse.stream(Stream.encodeText(Stream.ensuring(body, onEnd)), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no", ...headers },
  })
}
