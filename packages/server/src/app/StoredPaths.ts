/** Where the files of conversations are, of a store that keeps files and is told of here; without one nowhere. */
import {
  ConversationStore,
  type ConversationSummary,
  type Where,
} from "@colloquy/core/store/ConversationStore"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** Undefined for what the store does not have, or cannot tell of now. */
export const storedAt = (where: Where): Effect.Effect<ConversationSummary | undefined> =>
  Effect.flatMap(
    Effect.serviceOption(ConversationStore),
    Option.match({
      onNone: () => Effect.undefined,
      onSome: (store) =>
        Effect.catch(store.metadata(where), ({ message }) =>
          Effect.as(
            Effect.logDebug(`nothing is told of a stored conversation: ${message}`),
            undefined,
          ),
        ),
    }),
  )

export const rolloutPathOf = (
  id: ConversationId,
): Effect.Effect<{ readonly rolloutPath?: string }> =>
  Effect.map(storedAt({ id }), (stored) =>
    stored?.path === undefined ? {} : { rolloutPath: stored.path },
  )
