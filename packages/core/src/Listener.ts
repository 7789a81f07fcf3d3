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

/** A class: its methods are shared, where closures would be made for every listener anew. */
class Pumped implements Listener {
  private readonly outbox: Outbox
  private readonly subscription: PubSub.Subscription<Batch>
  private wake: (() => void) | undefined
  private ended = false

  constructor(outbox: Outbox, subscription: PubSub.Subscription<Batch>) {
    this.outbox = outbox
    this.subscription = subscription
  }

  /** Empties the subscription into the outbox until the conversation ends. */
  pump(): Effect.Effect<void> {
    return Effect.flatMap(PubSub.takeAll(this.subscription), (batches) => {
      for (const batch of batches) {
        if (batch._tag === "Closed") this.ended = true
        else this.outbox.offer(batch.events, batch.end)
      }
      const waiting = this.wake
      this.wake = undefined
      waiting?.()
      return this.ended ? Effect.void : this.pump()
    })
  }

  get take(): Listener["take"] {
    return Effect.suspend(() => this.next())
  }

  private next(): Listener["take"] {
    if (!this.outbox.isEmpty) return Effect.succeed(this.outbox.take())
    return this.ended ? Effect.fail(Cause.Done()) : Effect.flatMap(this.ready(), () => this.next())
  }

  private ready(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      // The pump may have run since `take` looked.
      if (this.ended || !this.outbox.isEmpty) return resume(Effect.void)
      this.wake = () => resume(Effect.void)
      return Effect.sync(() => {
        this.wake = undefined
      })
    })
  }
}

/** Starts a listener at durable event `from`, asked questions if it `answers`; it ends with its scope. */
export const make = (
  log: EventLog,
  hub: PubSub.PubSub<Batch>,
  limits: OutboxLimits,
  from: number,
  answers = false,
): Effect.Effect<Listener, never, Scope.Scope> =>
  Effect.gen(function* () {
    const outbox = new Outbox(log, limits, from, answers)
    const listener = new Pumped(outbox, yield* PubSub.subscribe(hub))
    yield* Effect.forkScoped(listener.pump(), { startImmediately: true })
    return listener
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
