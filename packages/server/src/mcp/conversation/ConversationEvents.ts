/** The events of a conversation so far, for tools and resources that read a conversation as a whole. */
import type { Conversation } from "@colloquy/core/Conversation"
import { snapshot } from "@colloquy/core/listeners/Listening"
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import { Refused, refusedBy } from "./Results.ts"

/** The message of a call that was waiting for a conversation which has ended. */
export const conversationEnded = (): Refused => new Refused({ message: "the conversation ended" })

/** All durable events, and a delta for each text in progress. Refused if the conversation cannot be read now. */
export const eventsOf = (
  conversation: Conversation,
): Effect.Effect<ReadonlyArray<Event>, Refused> =>
  snapshot(conversation).pipe(
    Effect.catchTag("Done", () => Effect.fail(conversationEnded())),
    Effect.mapError(refusedBy),
  )
