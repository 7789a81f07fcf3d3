/**
 * One listener of a conversation: a subscription to its `PubSub`, a pump that empties it into the outbox at once,
 * and `take`. Because the pump never waits for the listener's owner, a slow or dead one delays nothing (L6).
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { EventLog } from "./EventLog.ts"
import { type Delivery, Outbox, type OutboxLimits } from "./Outbox.ts"

/** Events published together; `end` is the log's position after the last. `Closed` is the hub's last word. */
export type Batch =
  | { readonly _tag: "Events"; readonly events: ReadonlyArray<Event>; readonly end: number }
  | { readonly _tag: "Closed" }

export interface Listener {
  /**
   * Waits for deliveries and gives all there are, at least one, in order. Fails with `Done` when the conversation
   * has ended and everything was delivered. One taker at a time.
   */
  readonly take: Effect.Effect<ReadonlyArray<Delivery>, Cause.Done>
}

/** Starts a listener at durable event `from`; it ends with its scope. */
export const make = (
  log: EventLog,
  hub: PubSub.PubSub<Batch>,
  limits: OutboxLimits,
  from: number,
): Effect.Effect<Listener, never, Scope.Scope> =>
  Effect.gen(function* () {
    const outbox = new Outbox(log, limits, from)
    let wake: (() => void) | undefined
    let ended = false
    const ring = () => {
      const waiting = wake
      wake = undefined
      waiting?.()
    }
    const subscription = yield* PubSub.subscribe(hub)
    const pump: Effect.Effect<void> = Effect.suspend(() =>
      Effect.flatMap(PubSub.takeAll(subscription), (batches) => {
        for (const batch of batches) {
          if (batch._tag === "Closed") ended = true
          else outbox.offer(batch.events, batch.end)
        }
        ring()
        return ended ? Effect.void : pump
      }),
    )
    yield* Effect.forkScoped(pump, { startImmediately: true })
    const ready = Effect.callback<void>((resume) => {
      // The pump may have run since `take` looked.
      if (ended || !outbox.isEmpty) return resume(Effect.void)
      wake = () => resume(Effect.void)
      return Effect.sync(() => {
        wake = undefined
      })
    })
    const take: Listener["take"] = Effect.suspend(() => {
      if (!outbox.isEmpty) return Effect.succeed(outbox.take())
      return ended ? Effect.fail(Cause.Done()) : Effect.flatMap(ready, () => take)
    })
    return { take }
  })

/** The events alone, one after the other, until the conversation has ended. For callers that need no markers. */
export const events = (listener: Listener): Stream.Stream<Event> => {
  const next: Effect.Effect<Arr.NonEmptyReadonlyArray<Event>, Cause.Done> = Effect.flatMap(
    listener.take,
    (deliveries) => {
      const batch = deliveries.flatMap((d) => (d._tag === "Event" ? [d.event] : []))
      return Arr.isReadonlyArrayNonEmpty(batch) ? Effect.succeed(batch) : next
    },
  )
  return Stream.fromPull(Effect.succeed(next))
}
