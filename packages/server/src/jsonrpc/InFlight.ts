/**
 * The requests of the other side that are being served: one fiber each, one answer each (L1).
 *
 * A request is answered by its handler, or cancelled and never answered or with an error, as its dialect has it, or
 * stopped at the end of the connection and answered with an error. Exactly one of these, decided here.
 */
import type { Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import { ErrorCode, failureText, JsonRpcError, type RequestId } from "@colloquy/protocol/JsonRpc"
import * as Pending from "@colloquy/protocol/PendingRequests"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import type { Slot } from "./Batch.ts"

interface Entry {
  readonly id: RequestId
  readonly cancellable: boolean
  readonly slot: Slot | undefined
  readonly over: ((sent: boolean) => void) | undefined
  fiber?: Fiber.Fiber<void>
  /** It came to an answer, whatever its state became since. */
  answers?: true
  /** To that of its work. */
  sent?: true
  /** From `answering` on the transport may have the answer, accepted or waiting: no other may follow. */
  state: "running" | "answering" | "cancelled" | "stopped"
  /** Of one that was cancelled: what its sender gets when its work has ended. */
  owed?: string | undefined
}

export interface InFlight {
  /** Whose work has not ended; at most so many answers more wait for a slow reader as `room` lets in. */
  readonly running: number
  /** Whether fewer than `max` answers wait to be accepted. */
  readonly hasRoom: (max: number) => boolean
  /** Returns when there is. */
  readonly room: (max: number) => Effect.Effect<void>
  readonly has: (id: RequestId) => boolean
  /** True while a response with this id is due: another one with it could be taken for it. */
  readonly isOwed: (id: RequestId) => boolean
  /**
   * Runs `work` in a fiber of its own and sends the text it gives. The id must not be in flight. One that is not
   * `cancellable` (default: it is) is answered whatever is cancelled. `after` runs when the answer was accepted.
   * `slot` takes the answer instead of the connection, and is told when there is none. `over` is called at the end of
   * the request: `sent` tells whether the answer may have gone out, which is known only of one that `after` ran for.
   * `before` is waited for between the end of the work and the response; the request can still be cancelled then.
   */
  readonly start: (
    id: RequestId,
    work: Effect.Effect<string>,
    cancellable?: boolean,
    after?: () => Effect.Effect<void> | undefined,
    slot?: Slot,
    over?: (sent: boolean) => void,
    before?: () => Effect.Effect<void> | undefined,
  ) => Effect.Effect<void>
  /**
   * Stops that request for good: it gets no answer that was not accepted yet, but this one when its work has ended; one
   * that is being answered is then left alone, as unknown and stopped ones are.
   */
  readonly cancel: (id: RequestId, answer?: JsonRpcError) => void
  /**
   * Waits up to `grace` for all to be answered, and then for `rest`; stops what is left within `stopBound` and answers it
   * with an error.
   */
  readonly drain: (grace: Duration.Input, rest?: Effect.Effect<void>) => Effect.Effect<void>
}

/** What stopped handlers may take to clean up: a turn's terminal event comes within a second (L14). */
const stopBound = "2 seconds"

/** What a reader that stopped reading may take for the last answers. */
const answerBound = "1 second"

// A function: making the error at import would cost each start a millisecond.
const stoppedError = () =>
  new JsonRpcError({
    code: ErrorCode.serverError,
    message: "the server is shutting down",
  })

/** Nobody is left to read the answer; the end of input that goes with it ends the rest. */
const dropped = (sending: Effect.Effect<void, ConnectionClosed>): Effect.Effect<void> =>
  Effect.catch(sending, ({ reason }) => Effect.logDebug(`answer dropped: ${reason}`))

/** @param apart see `Connection`; the errors of stopped requests follow what their handlers sent last */
export const make = (
  send: Connection["send"],
  apart: Effect.Effect<void> = Effect.void,
): Effect.Effect<InFlight, never, Scope.Scope> =>
  Effect.gen(function* () {
    const table = Pending.make<Entry>()
    const idle = Latch.makeUnsafe(true)
    const accepted = Latch.makeUnsafe(true)
    const fork = Effect.runForkWith(yield* Effect.context())
    let answering = 0

    const fibersOf = (entries: ReadonlyArray<Entry>) => entries.flatMap(({ fiber }) => fiber ?? [])

    const interrupt = (entries: ReadonlyArray<Entry>) =>
      Effect.timeoutOption(Fiber.interruptAll(fibersOf(entries)), stopBound)

    // The fibers are detached: a scope would wait without bound for one that refuses to stop.
    yield* Effect.addFinalizer(() => interrupt(table.drain()))

    const begin = (entry: Entry) => {
      entry.state = "answering"
      entry.answers = true
      answering++
    }

    /** What is stopped, or owed a response, still fills its place in the batch. */
    const skip = ({ owed, slot, state }: Entry) =>
      slot === undefined || owed !== undefined || state === "stopped" ? Effect.void : slot.skip

    const over = (entry: Entry) => {
      if (table.get(entry.id) === entry) table.take(entry.id)
      if (table.size === 0) idle.openUnsafe()
      if (entry.answers !== undefined) {
        answering--
        accepted.openUnsafe()
      }
      entry.over?.(entry.sent === true)
    }

    const ended = (entry: Entry) => {
      const { owed, slot } = entry
      entry.owed = undefined
      if (owed === undefined || table.get(entry.id) !== entry) return over(entry)
      begin(entry)
      entry.fiber = fork(dropped(slot === undefined ? send([owed]) : slot.put(owed)))
      entry.fiber.addObserver(() => over(entry))
    }

    const start: InFlight["start"] = (
      id,
      work,
      cancellable = true,
      after,
      slot,
      whenOver,
      before,
    ) =>
      Effect.suspend(() => {
        const entry: Entry = { id, cancellable, slot, over: whenOver, state: "running" }
        table.add(id, entry)
        idle.closeUnsafe()
        const respond = (text: string) => {
          if (entry.state !== "running") return skip(entry)
          begin(entry)
          entry.sent = true
          const next = after?.()
          if (slot !== undefined) return slot.put(text, next)
          const sent = send([text])
          return next === undefined ? sent : Effect.andThen(sent, next)
        }
        const answer = (text: string) => {
          const wait = before?.()
          return wait === undefined ? respond(text) : Effect.flatMap(wait, () => respond(text))
        }
        const answered = Effect.flatMap(work, answer)
        return dropped(
          slot === undefined ? answered : Effect.onInterrupt(answered, () => skip(entry)),
        ).pipe(
          Effect.forkDetach({ startImmediately: true }),
          Effect.map((fiber) => {
            entry.fiber = fiber
            if (entry.state === "cancelled") fiber.interruptUnsafe()
            fiber.addObserver(() => ended(entry))
          }),
        )
      })

    const hasRoom = (max: number) => answering < max

    const room = (max: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (hasRoom(max)) return Effect.void
        accepted.closeUnsafe()
        // In its turn: who lets answers in may not have let in all of them that waited before.
        return accepted.await.pipe(Effect.andThen(Effect.yieldNow), Effect.andThen(room(max)))
      })

    const cancel: InFlight["cancel"] = (id, error) => {
      const entry = table.get(id)
      if (entry?.cancellable !== true) return
      const { state } = entry
      if (state !== "running" && (state !== "answering" || error !== undefined)) return
      if (error !== undefined) entry.owed = failureText(entry.id, error)
      entry.state = "cancelled"
      entry.fiber?.interruptUnsafe()
    }

    const stop = Effect.gen(function* () {
      const entries = table.values()
      const stopped = entries.filter((entry) => entry.state === "running")
      for (const entry of stopped) entry.state = "stopped"
      yield* interrupt(entries.filter((entry) => entry.state !== "answering"))
      // What was cancelled and has ended is being answered by now; what refuses to end is answered for.
      const texts: Array<string> = []
      const slots: Array<Effect.Effect<void>> = []
      for (const entry of entries) {
        const { id, owed, slot, state } = entry
        if (state === "answering") continue
        entry.owed = undefined
        const text = state === "stopped" ? failureText(id, stoppedError()) : owed
        if (slot !== undefined) slots.push(text === undefined ? slot.skip : slot.put(text))
        else if (text !== undefined) texts.push(text)
      }
      const answering = entries.filter((entry) => entry.state === "answering")
      yield* Effect.all(slots, { discard: true }).pipe(
        Effect.andThen(texts.length === 0 ? Effect.void : apart),
        Effect.andThen(dropped(send(texts))),
        Effect.andThen(Fiber.awaitAll(fibersOf(answering))),
        Effect.timeoutOption(answerBound),
      )
      // What is left has had its time; nobody waits for it again.
      for (const { fiber } of table.drain()) fiber?.interruptUnsafe()
    })

    return {
      get running() {
        return table.size - answering
      },
      hasRoom,
      room,
      has: (id) => table.get(id) !== undefined,
      isOwed: (id) => {
        const entry = table.get(id)
        if (entry === undefined) return false
        return entry.state !== "cancelled" || entry.owed !== undefined || entry.answers === true
      },
      start,
      cancel,
      drain: (grace, rest = Effect.void) =>
        Effect.flatMap(Effect.timeoutOption(Effect.andThen(idle.await, rest), grace), (done) =>
          done._tag === "Some" ? Effect.void : stop,
        ),
    }
  })
