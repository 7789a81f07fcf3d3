/**
 * The call of a parked turn is taken back before its run knows of it, or while its next question is made: the turn stops,
 * as it does at any other moment (L14). Nobody else would stop it.
 */
import type { ConversationsView } from "../../../ConversationsView.ts"
import { parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { readTurnState } from "./TurnState.ts"

/** Ignores the states of other tools, and of calls that run no turn. */
export const cancellation =
  (manager: ConversationsView["Service"]) =>
  (own: unknown): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { conversation, turn } = yield* readTurnState(own)
      const parsed = parseConversationId(conversation)
      if (turn === "" || "problem" in parsed) return
      const found = yield* manager.get(parsed.id)
      yield* found.cancel(turn)
    }).pipe(
      Effect.catch(({ message }) =>
        Effect.logDebug(`nothing to stop of what was taken back: ${message}`),
      ),
    )
