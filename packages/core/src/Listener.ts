/** A listener of a conversation, as whoever serves it sees it. `OutboxListener.ts` makes one. */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Arr from "effect/Array"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Delivery } from "./Outbox.ts"

export interface Listener {
  /**
   * Waits for deliveries and gives all there are, at least one, in order. Fails with `Done` when the conversation
   * has ended and everything was delivered. One taker at a time.
   */
  readonly take: Effect.Effect<ReadonlyArray<Delivery>, Cause.Done>
}

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
