/** What follows the creation of a conversation, of which a request that fails must leave nothing behind (L3). */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { ConversationsView } from "./ConversationsView.ts"

/** Carries out the rest of a request that has created a conversation. Removes the conversation if the rest fails. */
export const removeOnFailure =
  (id: ConversationId) =>
  <A, E, R>(rest: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | ConversationsView> =>
    Effect.tapError(rest, () =>
      Effect.flatMap(ConversationsView, (conversations) => conversations.remove(id)).pipe(
        // The client gets the reason why its request failed; that the conversation is left is for the operator.
        Effect.catch(({ message }) =>
          Effect.logWarning(
            `could not remove conversation ${id}, whose creation has failed: ${message}`,
          ),
        ),
      ),
    )
