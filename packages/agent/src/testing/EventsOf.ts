/** What a conversation has recorded so far. */
import type { AttachError } from "@colloquy/core/ConversationErrors"
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Chat } from "../Chat.ts"

/**
 * The events that are recorded in the conversation so far, from `session_configured` on, without deltas. Waits for
 * nothing, whoever made the agent of the chat.
 */
export const eventsOf = (
  chat: Pick<Chat, "conversation">,
): Effect.Effect<ReadonlyArray<Event>, AttachError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const listener = yield* chat.conversation.attach({ from: 0 })
      const events: Array<Event> = []
      for (;;) {
        const taken = yield* Effect.catchIf(listener.take, Cause.isDone, () => Effect.undefined)
        // The conversation has ended.
        if (taken === undefined) return events
        for (const delivery of taken) {
          if (delivery._tag === "Synced") return events
          if (delivery._tag === "Event") events.push(delivery.event)
        }
      }
    }),
  )
