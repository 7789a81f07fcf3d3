/**
 * The requests of the peer that are being served: one fiber each, one response each (L1).
 *
 *     running ── work gave its text ──────────> answering ── accepted ──> ended
 *        ├────── cancelled without an error ──> cancelled ── work ended ─> ended, no response
 *        ├────── cancelled with an error ─────> cancelled ── work ended ─> answering with that error
 *        └────── end of the connection ───────> stopped, answered with an error that says so
 *
 * From `answering` on, the transport may have the response, accepted or waiting, so no other response may follow.
 */
import type { Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import {
  failureText,
  type JsonRpcError,
  type MessageForm,
  type RequestId,
} from "@colloquy/protocol/JsonRpc"
import * as Pending from "@colloquy/protocol/PendingRequests"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { Slot } from "./Batch.ts"
import { LazyLatch } from "./LazyLatch.ts"
import { stoppedError } from "./PeerErrors.ts"

/** A request to serve. */
export interface InFlightRequest {
  /** Must not be in flight. */
  readonly id: RequestId
  /** Resolves with the text of the response. Interrupted when the request is cancelled or stopped. */
  readonly work: Effect.Effect<string>
  /** False: the request gets its response even if the peer cancels it. Default true. */
  readonly cancellable?: boolean
  /** Place in a batch that gets the response instead of the connection. It is completed also without a response. */
  readonly slot?: Slot | undefined
  /** Waited for between the end of the work and the response; the request can still be cancelled then. */
  readonly before?: () => Effect.Effect<void> | undefined
  /** Called directly before the response is sent. The effect that it returns runs once the response was accepted. */
  readonly onResponse?: () => Effect.Effect<void> | undefined
  /**
   * Called when the request has ended. `sent`: whether the response of its work may have been sent, that is, whether
   * `onResponse` was called for it.
   */
  readonly onEnd?: (sent: boolean) => void
}

interface Entry {
  readonly request: InFlightRequest
  fiber?: Fiber.Fiber<void>
  /** A response was sent or is being sent, independent of later changes of the state. */
  hasAnswer?: true
  /** That response is the result of the request's work. */
  sent?: true
  state: "running" | "answering" | "cancelled" | "stopped"
  /** For a cancelled request: the response that the peer gets when the work has ended. */
  owed?: string | undefined
}

/** The table of the requests in flight. */
export interface InFlight {
  /**
   * Number of requests with unfinished work. Responses that wait for a slow reader are not counted; `room` bounds them.
   */
  readonly running: number
  /** Whether fewer than `max` responses wait to be accepted. */
  readonly hasRoom: (max: number) => boolean
  /** Resolves when `hasRoom(max)` is true. */
  readonly room: (max: number) => Effect.Effect<void>
  /** Whether a request with this id is in flight. */
  readonly has: (id: RequestId) => boolean
  /** Whether a response with this id is due: another message with the same id could be mistaken for that response. */
  readonly isOwed: (id: RequestId) => boolean
  /** Runs the work in a separate fiber and sends the resulting text. */
  readonly start: (request: InFlightRequest) => Effect.Effect<void>
  /**
   * Cancels a request. A response that was not accepted yet is dropped. With `answer`, the request gets that error when
   * its work has ended, and a request that is already being answered is not changed. Unknown and stopped requests are
   * never changed.
   */
  readonly cancel: (id: RequestId, answer?: JsonRpcError) => void
  /**
   * Waits up to `grace` for all responses, and then for `rest`. Stops the remaining requests within `stopBound` and
   * sends an error for each.
   */
  readonly drain: (grace: Duration.Input, rest?: Effect.Effect<void>) => Effect.Effect<void>
}

/** How long stopped handlers may clean up: a turn's terminal event comes within a second (L14). */
const stopBound = "2 seconds"

/** How long the last responses may wait for a client that has stopped reading. */
const answerBound = "1 second"

/** Logs a response that the peer can no longer read. The end of input that follows ends the other requests. */
const dropped = (sending: Effect.Effect<void, ConnectionClosed>): Effect.Effect<void> =>
  Effect.catch(sending, ({ reason }) => Effect.logDebug(`response dropped: ${reason}`))

const fibersOf = (entries: ReadonlyArray<Entry>) => entries.flatMap(({ fiber }) => fiber ?? [])

const interruptAll = (entries: ReadonlyArray<Entry>) =>
  Effect.timeoutOption(Fiber.interruptAll(fibersOf(entries)), stopBound)

/**
 * Completes the slot of a request without a response. A request that is stopped or owed an error fills its slot later.
 */
const skip = ({ owed, request, state }: Entry) =>
  request.slot === undefined || owed !== undefined || state === "stopped"
    ? Effect.void
    : request.slot.skip

/** What the requests in flight of one connection need. */
export interface InFlightOptions {
  readonly send: Connection["send"]
  /** See `Connection.sendNow`. */
  readonly sendNow?: Connection["sendNow"]
  /** See `Connection.apart`: the errors of stopped requests are sent apart from what their handlers sent last. */
  readonly apart?: Effect.Effect<void>
  /** The form of the messages to the peer. Default: always "2.0". */
  readonly form?: () => MessageForm
}

class InFlightTable implements InFlight {
  private readonly send: Connection["send"]
  private readonly sendNow: Connection["sendNow"]
  private readonly apart: Effect.Effect<void>
  private readonly form: () => MessageForm
  private readonly fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  private readonly table = Pending.make<Entry>()
  private readonly idle = new LazyLatch(true)
  private readonly accepted = new LazyLatch(true)
  /** Number of responses that are being sent. */
  private answering = 0

  constructor(
    { apart = Effect.void, form = () => "2.0", send, sendNow }: InFlightOptions,
    fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>,
  ) {
    this.send = send
    this.sendNow = sendNow
    this.apart = apart
    this.form = form
    this.fork = fork
  }

  get running(): number {
    return this.table.size - this.answering
  }

  hasRoom(max: number): boolean {
    return this.answering < max
  }

  room(max: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.hasRoom(max)) return Effect.void
      this.accepted.closeUnsafe()
      // In order: an accepted response may not have made room for all readers that waited before.
      return this.accepted.await.pipe(
        Effect.andThen(Effect.yieldNow),
        Effect.andThen(this.room(max)),
      )
    })
  }

  has(id: RequestId): boolean {
    return this.table.get(id) !== undefined
  }

  isOwed(id: RequestId): boolean {
    const entry = this.table.get(id)
    if (entry === undefined) return false
    return entry.state !== "cancelled" || entry.owed !== undefined || entry.hasAnswer === true
  }

  start(request: InFlightRequest): Effect.Effect<void> {
    return Effect.sync(() => {
      const { slot } = request
      const entry: Entry = { request, state: "running" }
      this.table.add(request.id, entry)
      this.idle.closeUnsafe()
      const answered = Effect.flatMap(request.work, (text) => {
        const wait = request.before?.()
        return wait === undefined
          ? this.respond(entry, text)
          : Effect.flatMap(wait, () => this.respond(entry, text))
      })
      const served = dropped(
        slot === undefined ? answered : Effect.onInterrupt(answered, () => skip(entry)),
      )
      const fiber = this.fork(served)
      entry.fiber = fiber
      if (entry.state === "cancelled") fiber.interruptUnsafe()
      fiber.addObserver(() => this.workEnded(entry))
    })
  }

  cancel(id: RequestId, error?: JsonRpcError): void {
    const entry = this.table.get(id)
    if (entry === undefined || entry.request.cancellable === false) return
    const { state } = entry
    if (state !== "running" && (state !== "answering" || error !== undefined)) return
    if (error !== undefined) entry.owed = failureText(id, error, this.form())
    entry.state = "cancelled"
    entry.fiber?.interruptUnsafe()
  }

  drain(grace: Duration.Input, rest: Effect.Effect<void> = Effect.void): Effect.Effect<void> {
    return Effect.flatMap(
      Effect.timeoutOption(Effect.andThen(this.idle.await, rest), grace),
      (done) => (done._tag === "Some" ? Effect.void : this.stop),
    )
  }

  /**
   * Interrupts the remaining requests. Their fibers are detached: a scope would wait without bound for one that does
   * not stop.
   */
  readonly abandon: Effect.Effect<unknown> = Effect.suspend(() => interruptAll(this.table.drain()))

  private respond(entry: Entry, text: string): Effect.Effect<void, ConnectionClosed> {
    if (entry.state !== "running") return skip(entry)
    this.startAnswering(entry)
    entry.sent = true
    const { request } = entry
    const next = request.onResponse?.()
    if (request.slot !== undefined) return request.slot.put(text, next)
    const options = { relatedTo: request.id }
    if (this.sendNow?.([text], options) === true) return next ?? Effect.void
    const sent = this.send([text], options)
    return next === undefined ? sent : Effect.andThen(sent, next)
  }

  private startAnswering(entry: Entry): void {
    entry.state = "answering"
    entry.hasAnswer = true
    this.answering++
  }

  /** Called when the work has ended. Sends the error that a cancelled request is owed. */
  private workEnded(entry: Entry): void {
    const { owed, request } = entry
    entry.owed = undefined
    if (owed === undefined || this.table.get(request.id) !== entry) return this.ended(entry)
    this.startAnswering(entry)
    entry.fiber = this.fork(
      dropped(
        request.slot === undefined
          ? this.send([owed], { relatedTo: request.id })
          : request.slot.put(owed),
      ),
    )
    entry.fiber.addObserver(() => this.ended(entry))
  }

  private ended(entry: Entry): void {
    const { request } = entry
    if (this.table.get(request.id) === entry) this.table.take(request.id)
    if (this.table.size === 0) this.idle.openUnsafe()
    if (entry.hasAnswer !== undefined) {
      this.answering--
      this.accepted.openUnsafe()
    }
    request.onEnd?.(entry.sent === true)
  }

  private readonly stop: Effect.Effect<void> = Effect.suspend(() => {
    const entries = this.table.values()
    for (const entry of entries) if (entry.state === "running") entry.state = "stopped"
    return interruptAll(entries.filter(({ state }) => state !== "answering")).pipe(
      // Cancelled requests with completed work are being answered already. The others get their error here.
      Effect.andThen(
        Effect.timeoutOption(
          Effect.suspend(() => this.answerStopped(entries)),
          answerBound,
        ),
      ),
      // The remaining fibers have used up their time.
      Effect.andThen(
        Effect.sync(() => {
          for (const { fiber } of this.table.drain()) fiber?.interruptUnsafe()
        }),
      ),
    )
  })

  private answerStopped(entries: ReadonlyArray<Entry>): Effect.Effect<void> {
    const sends: Array<Effect.Effect<void>> = []
    const slots: Array<Effect.Effect<void>> = []
    for (const entry of entries) {
      const { owed, request, state } = entry
      if (state === "answering") continue
      entry.owed = undefined
      const { id, slot } = request
      const text = state === "stopped" ? failureText(id, stoppedError(), this.form()) : owed
      if (slot !== undefined) slots.push(text === undefined ? slot.skip : slot.put(text))
      else if (text !== undefined) sends.push(dropped(this.send([text], { relatedTo: id })))
    }
    const answering = entries.filter(({ state }) => state === "answering")
    return Effect.all(slots, { discard: true }).pipe(
      Effect.andThen(sends.length === 0 ? Effect.void : this.apart),
      Effect.andThen(Effect.all(sends, { discard: true })),
      Effect.andThen(Fiber.awaitAll(fibersOf(answering))),
      Effect.asVoid,
    )
  }
}

/** Creates the table of one connection. Requests that remain when the scope closes are interrupted. */
export const make = (options: InFlightOptions): Effect.Effect<InFlight, never, Scope.Scope> =>
  Effect.gen(function* () {
    const table = new InFlightTable(options, Effect.runForkWith(yield* Effect.context()))
    yield* Effect.addFinalizer(() => table.abandon)
    return table
  })
