/** The events of a conversation so far, read as any listener reads them. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import { Refused } from "./Results.ts"

/** Reads from the beginning until `enough`, or to the end. */
export const eventsUntil = (
  conversation: Conversation,
  enough: (event: Event) => boolean = () => false,
): Effect.Effect<ReadonlyArray<Event>, Refused> =>
  Effect.gen(function* () {
    const listener = yield* conversation.attach({ from: 0 })
    const events: Array<Event> = []
    while (true) {
      for (const delivery of yield* listener.take) {
        if (delivery._tag === "Synced") return events
        if (delivery._tag !== "Event") continue
        events.push(delivery.event)
        if (enough(delivery.event)) return events
      }
    }
  }).pipe(
    Effect.scoped,
    Effect.catchTag("Done", () => Effect.fail(new Refused({ message: "the conversation ended" }))),
    Effect.mapError(({ message }) => new Refused({ message })),
  )

/** What a person said, as forks count it (§5.2). */
export const isUserMessage = ({ msg }: Event): boolean =>
  msg.type === "user_message" && (msg.kind ?? "plain") === "plain"
