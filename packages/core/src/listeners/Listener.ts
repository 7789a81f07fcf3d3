/** A listener of a conversation, as the code that serves it sees it. `SubscribedListener.ts` implements it. */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Arr from "effect/Array"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ConversationUnavailable } from "../ConversationErrors.ts"
import type { Delivery } from "./Delivery.ts"

/** How a listener ends: regularly, or because nothing of the conversation can be recorded any more. */
export type ListenerEnd = Cause.Done | ConversationUnavailable

/** Reads the events of one conversation, from where it was attached. */
export interface Listener {
  /**
   * Waits for deliveries and gives all there are, at least one, in order. Fails once the conversation has ended and
   * everything was delivered: with `Done`, or with the reason where nothing of it can be recorded any more. A turn that ran
   * then has no terminal event yet: a listener that attaches from the next event gets it. Interrupted while it waits, it
   * loses nothing. One fiber takes at a time. Interrupted once the scope of the listener has closed.
   */
  readonly take: Effect.Effect<ReadonlyArray<Delivery>, ListenerEnd>
}

/**
 * The events that a listener takes, one after the other and without markers, until the conversation has ended. Fails when
 * nothing of it can be recorded any more.
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

/** The events of a conversation, attached to while the stream runs; see `Conversation.events`. */
export const attachedEvents = <Options, E>(
  conversation: {
    readonly attach: (options?: Options) => Effect.Effect<Listener, E, Scope.Scope>
  },
  options: Options | undefined,
): Stream.Stream<Event, E | ConversationUnavailable> =>
  Stream.unwrap(Effect.map(conversation.attach(options), events))
