/**
 * The loops that serve a listener: each takes deliveries and hands them to functions of the caller, in order, until the
 * listener or what is waited for ends. Every effect here runs in the fiber of its caller, starts no fiber and keeps
 * nothing that it has taken, so that a slow handler delays its own listener alone (L6).
 */
import { type Event, type EventOf, isTerminal } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import type { AttachError } from "../ConversationErrors.ts"
import type { Conversation } from "../conversation/ConversationHandle.ts"
import type { Delivery } from "./Delivery.ts"
import type { Listener, ListenerEnd } from "./Listener.ts"

/** What a handler returns: nothing where it has finished, or the effect that finishes it. */
type Handled<E, R> = Effect.Effect<unknown, E, R> | void

/** One function per kind of delivery; a kind without one is ignored. */
export interface ListenerHandlers<E = never, R = never> {
  /** For every event, durable or ephemeral. */
  readonly event?: (event: Event) => Handled<E, R>
  /** For every question that the listener's client should be asked, with the event that requests it. */
  readonly ask?: (request: Event) => Handled<E, R>
  /** When everything below `seq` has been delivered and what follows is live. */
  readonly synced?: (seq: number) => Handled<E, R>
  /** When the listener fell behind; the durable events from `from` on follow from the event log. */
  readonly lagged?: (from: number) => Handled<E, R>
  /** After the last delivery of each `take`: the place to send what the other handlers have collected. */
  readonly taken?: () => Handled<E, R>
}

/** The terminal event of a turn. */
export interface TurnEnd extends Event {
  readonly msg: EventOf<"task_complete"> | EventOf<"turn_aborted">
}

const handle = <E, R>(handlers: ListenerHandlers<E, R>, delivery: Delivery): Handled<E, R> => {
  switch (delivery._tag) {
    case "Event":
      return handlers.event?.(delivery.event)
    case "Ask":
      return handlers.ask?.(delivery.event)
    case "Synced":
      return handlers.synced?.(delivery.seq)
    case "Lagged":
      return handlers.lagged?.(delivery.from)
  }
}

/**
 * Hands over deliveries that were already taken, one after the other, and then calls `taken`. Waits for each handler
 * that returns an effect before it hands over the next delivery; fails with the first failure of a handler.
 */
export const dispatch: <E = never, R = never>(
  deliveries: ReadonlyArray<Delivery>,
  handlers: ListenerHandlers<E, R>,
) => Effect.Effect<void, E, R> = Effect.fnUntraced(function* <E, R>(
  deliveries: ReadonlyArray<Delivery>,
  handlers: ListenerHandlers<E, R>,
): Effect.fn.Return<void, E, R> {
  for (const delivery of deliveries) {
    const handled = handle(handlers, delivery)
    if (handled !== undefined) yield* handled
  }
  const taken = handlers.taken?.()
  if (taken !== undefined) yield* taken
})

/**
 * Calls the handler with all deliveries of each `take` until the listener ends, for a caller that handles batches. Never
 * succeeds; fails as `run` does.
 */
export const runBatches = <E, R>(
  listener: Listener,
  batch: (deliveries: ReadonlyArray<Delivery>) => Effect.Effect<void, E, R>,
): Effect.Effect<never, ListenerEnd | E, R> =>
  Effect.forever(Effect.flatMap(listener.take, batch), { disableYield: true })

/**
 * Hands over every delivery of the listener until it ends. Never succeeds: fails with `Done` where the conversation
 * ended, with `ConversationUnavailable` where nothing of it can be recorded any more, or with the failure of a handler.
 */
export const run = <E = never, R = never>(
  listener: Listener,
  handlers: ListenerHandlers<E, R>,
): Effect.Effect<never, ListenerEnd | E, R> =>
  runBatches(listener, (deliveries) => dispatch(deliveries, handlers))

/**
 * As `run`, and resolves once `isDone` gives true. It is evaluated after all deliveries of one `take` were handled, and
 * before anything is taken.
 */
export const runUntil = <E = never, R = never, E2 = never, R2 = never>(
  listener: Listener,
  isDone: Effect.Effect<boolean, E2, R2>,
  handlers: ListenerHandlers<E, R>,
): Effect.Effect<void, ListenerEnd | E | E2, R | R2> => {
  const step: Effect.Effect<void, ListenerEnd | E | E2, R | R2> = Effect.flatMap(isDone, (done) =>
    done
      ? Effect.void
      : Effect.andThen(
          Effect.flatMap(listener.take, (deliveries) => dispatch(deliveries, handlers)),
          step,
        ),
  )
  return step
}

/**
 * Waits until the turn has ended and gives its terminal event. `event` gets every event of the conversation before that,
 * and the terminal event itself; what was taken together with it and follows it is dropped. The listener must be
 * attached at or before the turn's end, or this waits until the conversation ends. Fails as `run` does.
 */
export const untilTurnEnds: <E = never, R = never>(
  listener: Listener,
  turnId: string,
  event?: ListenerHandlers<E, R>["event"],
) => Effect.Effect<TurnEnd, ListenerEnd | E, R> = Effect.fnUntraced(function* <E, R>(
  listener: Listener,
  turnId: string,
  onEvent?: ListenerHandlers<E, R>["event"],
): Effect.fn.Return<TurnEnd, ListenerEnd | E, R> {
  while (true) {
    for (const delivery of yield* listener.take) {
      if (delivery._tag !== "Event") continue
      const { event } = delivery
      const handled = onEvent?.(event)
      if (handled !== undefined) yield* handled
      const { id, msg, seq } = event
      if (id === turnId && isTerminal(msg)) return { id, msg, seq }
    }
  }
})

/**
 * Waits for the first event that `isIt` accepts and gives it. What was taken together with it and follows it is dropped.
 * Fails as `run` does.
 */
export const untilEvent: (
  listener: Listener,
  isIt: (event: Event) => boolean,
) => Effect.Effect<Event, ListenerEnd> = Effect.fnUntraced(function* (
  listener: Listener,
  isIt: (event: Event) => boolean,
): Effect.fn.Return<Event, ListenerEnd> {
  while (true) {
    for (const delivery of yield* listener.take) {
      if (delivery._tag === "Event" && isIt(delivery.event)) return delivery.event
    }
  }
})

/**
 * The durable events of a conversation from number 0 on, as any listener reads them, each text in progress as one delta
 * behind them. Ends after the first event that `isLast` accepts, if any does. Resolves with what there was when it
 * attached; a conversation that has ended gives its log. Attaches for as long as it reads.
 */
export const snapshot = (
  conversation: Pick<Conversation, "attach">,
  isLast: (event: Event) => boolean = () => false,
): Effect.Effect<ReadonlyArray<Event>, AttachError | ListenerEnd> =>
  Effect.scoped(
    Effect.gen(function* () {
      const listener = yield* conversation.attach({ from: 0 })
      const events: Array<Event> = []
      while (true) {
        for (const delivery of yield* listener.take) {
          if (delivery._tag === "Synced") return events
          if (delivery._tag !== "Event") continue
          events.push(delivery.event)
          if (isLast(delivery.event)) return events
        }
      }
    }),
  )

/**
 * Number of times that every other runnable fiber gets its turn before `takeSoon` resolves without a delivery. Enough for
 * the tool calls of one model response to ask all their questions; no wall-clock time is involved.
 */
const soonYields = 64

const nothing: ReadonlyArray<Delivery> = []

/**
 * The next deliveries, or an empty list where the fibers that can run now deliver none. For a caller that must stop
 * listening, and would rather wait for what is about to happen than miss it; whatever comes later is still delivered to a
 * later listener.
 */
export const takeSoon = (listener: Listener): Effect.Effect<ReadonlyArray<Delivery>, ListenerEnd> =>
  Effect.raceFirst(
    listener.take,
    Effect.as(Effect.repeat(Effect.yieldNow, { times: soonYields }), nothing),
  )
