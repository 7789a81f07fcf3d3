/**
 * Converts the body of a streaming response to model events: bytes to server-sent events to the
 * wire's decoder, one array of events per pull, in plain functions. Decides how long each wait may
 * last; the connection belongs to the exchange.
 */
import type { ModelError, ModelEvent } from "@colloquy/core/ModelClient"
import { ServerSentEvents } from "@colloquy/protocol/ServerSentEvents"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import type { Exchange } from "../ProviderHttp.ts"
import { dropped, eventTooLarge, idle, responseTooLarge } from "./failures/Failures.ts"
import type { IdleDeadline } from "./IdleDeadline.ts"
import type { Reading, WireDecoder } from "./WireDecoder.ts"

/**
 * How long the rest of a complete answer (usage, end marker, end of the body) is waited for:
 * reading to the end lets the connection be used again.
 */
const rest = Duration.millis(500)

/** Number of a response's notes that are logged one by one; further ones are counted. */
const maxNotes = 5

/** Limits of one response, in bytes. */
interface ResponseLimits {
  readonly maxEventBytes: number
  /**
   * Limit of the whole body, and thereby of what a decoder holds back and a turn keeps of one
   * response.
   */
  readonly maxResponseBytes: number
}

/** Reads bytes and collects the events, notes and failure of one response. */
class ResponseReader {
  private readonly decoder: WireDecoder
  private readonly limits: ResponseLimits
  private readonly parser: ServerSentEvents
  private out: Array<ModelEvent> = []
  private notes: Array<string> = []
  private noted = 0
  private bytes = 0
  /** Number of server-sent events so far. */
  seen = 0
  failure: ModelError | undefined
  ended = false

  constructor(decoder: WireDecoder, limits: ResponseLimits) {
    this.decoder = decoder
    this.limits = limits
    this.parser = new ServerSentEvents(limits.maxEventBytes, (data) => {
      this.seen++
      if (this.failure === undefined) this.add(decoder.event(data, this.out))
    })
  }

  read(chunks: ReadonlyArray<Uint8Array>): void {
    for (const chunk of chunks) {
      if (this.isFinished) return
      const left = this.limits.maxResponseBytes - this.bytes
      this.bytes += chunk.length
      const fits = this.parser.feed(chunk.subarray(0, left))
      // What follows a complete answer is ignored, however the bytes are divided.
      if (this.isFinished) return
      if (!fits) this.failure = eventTooLarge(this.limits.maxEventBytes)
      else if (chunk.length > left) {
        this.failure = responseTooLarge(this.limits.maxResponseBytes)
      }
    }
  }

  /**
   * Ends the body. A last event without its blank line counts when it can be read; half an event is
   * not an error of its own, because the answer is incomplete anyway.
   */
  end(): void {
    this.ended = true
    if (this.failure !== undefined) return
    this.parser.end()
    if (this.failure === undefined) this.add(this.decoder.end(this.out))
    if (this.noted > maxNotes) {
      this.notes.push(`${this.noted - maxNotes} more notes of this kind are left out`)
    }
  }

  /** Ends the body without its end marker: a failure, unless the answer is complete already. */
  breakOff(error: ModelError): void {
    if (this.decoder.phase() !== "open") return this.end()
    this.ended = true
    this.failure ??= error
  }

  takeNotes(): ReadonlyArray<string> {
    const taken = this.notes
    this.notes = []
    return taken
  }

  takeEvents(): ReadonlyArray<ModelEvent> {
    const taken = this.out
    this.out = []
    return taken
  }

  /** True when the answer is complete: what follows of the body is ignored. */
  get isDone(): boolean {
    return this.decoder.phase() === "done"
  }

  private get isFinished(): boolean {
    return this.failure !== undefined || this.isDone
  }

  private add({ error, note }: Reading): void {
    this.failure ??= error
    if (note !== undefined && ++this.noted <= maxNotes) this.notes.push(note)
  }
}

/** Limits of a body, and how long its events are waited for. */
export interface BodyOptions extends ResponseLimits {
  /** The longest wait for the next server-sent event; comments do not count. */
  readonly idleTimeout: Duration.Duration
  /** Id of the provider, for the log. */
  readonly provider: string
}

/** The parts of an exchange that read a body. */
export type Body = Pick<Exchange, "read" | "isReady" | "isReceived" | "close">

/** Reads the next chunks of the body. */
const readMore = (
  body: Body,
  deadline: IdleDeadline,
  reader: ResponseReader,
): Effect.Effect<void> =>
  Effect.match(body.read, {
    onSuccess: (chunks) => (chunks === undefined ? reader.end() : reader.read(chunks)),
    onFailure: () => reader.breakOff(deadline.isExpired ? idle : dropped),
  })

/** Reads until there is another server-sent event, the end or a failure. Only a wait for the provider is limited. */
const untilEvent = (
  body: Body,
  deadline: IdleDeadline,
  reader: ResponseReader,
  limit: () => Duration.Duration,
): Effect.Effect<void> => {
  const more = readMore(body, deadline, reader)
  const limited = () =>
    deadline.isStarted || body.isReady()
      ? more
      : Effect.andThen(deadline.start(limit(), body.close), more)
  return Effect.suspend(() => {
    const before = reader.seen
    const step = (): Effect.Effect<void> =>
      Effect.flatMap(limited(), () => {
        if (reader.isDone && body.isReceived()) reader.end()
        if (!reader.ended && reader.failure === undefined && reader.seen === before) return step()
        deadline.stop()
        return Effect.void
      })
    return step()
  })
}

const log = (provider: string, notes: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.forEach(
    notes,
    (note) => Effect.logWarning(`event stream of model provider \`${provider}\`: ${note}`),
    { discard: true },
  )

/** The events of a response. Skipped events are logged as warnings, a bounded number of them per response. */
export type EventPull = Pull.Pull<Arr.NonEmptyReadonlyArray<ModelEvent>, ModelError>

/** Reads a body: every run of the result gives the next events, fails, or is done. */
export const decodeBody = (
  body: Body,
  deadline: IdleDeadline,
  decoder: WireDecoder,
  { idleTimeout, provider, ...limits }: BodyOptions,
): EventPull => {
  const reader = new ResponseReader(decoder, limits)
  const wait = untilEvent(body, deadline, reader, () =>
    decoder.phase() === "open" ? idleTimeout : Duration.min(rest, idleTimeout),
  )
  const next: EventPull = Effect.suspend(() => {
    const notes = reader.takeNotes()
    if (notes.length > 0) return Effect.andThen(log(provider, notes), next)
    const events = reader.takeEvents()
    if (Arr.isReadonlyArrayNonEmpty(events)) return Effect.succeed(events)
    if (reader.failure !== undefined) return Effect.fail(reader.failure)
    return reader.ended ? Cause.done() : Effect.flatMap(wait, () => next)
  })
  return next
}
