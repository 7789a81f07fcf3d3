/** A listener of a conversation, as whoever serves it sees it. `OutboxListener.ts` makes one. */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Arr from "effect/Array"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ConversationUnavailable } from "../ConversationErrors.ts"
import type { Delivery } from "./Delivery.ts"

/** How a listener ends: the conversation ended by itself, or nothing of it can be recorded any more. */
export type ListenerEnd = Cause.Done | ConversationUnavailable

export interface Listener {
  /**
   * Waits for deliveries and gives all there are, at least one, in order. Fails when the conversation has ended and
   * everything was delivered: with `Done` where it ended by itself, with the reason where nothing of it can be recorded any
   * more. A turn that ran then has no terminal event yet: `attach` from the next event delivers it. One taker at a time.
   */
  readonly take: Effect.Effect<ReadonlyArray<Delivery>, ListenerEnd>
}

/**
 * The events alone, one after the other, until the conversation has ended. Fails when nothing of it can be recorded any
 * more. For callers that need no markers.
 */
export const events = (listener: Listener): Stream.Stream<Event, ConversationUnavailable> => {
  const next: Effect.Effect<Arr.NonEmptyReadonlyArray<Event>, ListenerEnd> = Effect.flatMap(
    listener.take,
    (deliveries) => {
      const batch = deliveries.flatMap((d) => (d._tag === "Event" ? [d.event] : []))
      return Arr.isReadonlyArrayNonEmpty(batch) ? Effect.succeed(batch) : next
    },
  )
  return Stream.fromPull(Effect.succeed(next))
}
