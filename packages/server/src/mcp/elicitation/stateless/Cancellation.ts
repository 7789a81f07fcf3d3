/**
 * Interrupts the turn of a stateless call that is cancelled where no call runs it: before the call with the answers has
 * started, or while the result with the next question is being sealed (L14).
 */
import type { ConversationsView } from "../../../ConversationsView.ts"
import { parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { readCallState } from "./CallState.ts"

/** What cancelling does, given the state that a tool kept. Ignores states of other tools, and of calls that run no turn. */
export const cancellation =
  (conversations: ConversationsView["Service"]) =>
  (state: unknown): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { conversation, turn } = yield* readCallState(state)
      const parsed = parseConversationId(conversation)
      if (turn === "" || "problem" in parsed) return
      const found = yield* conversations.get(parsed.id)
      yield* found.cancel(turn)
    }).pipe(
      Effect.catch(({ message }) =>
        Effect.logDebug(`no turn interrupted for a cancelled request: ${message}`),
      ),
    )
