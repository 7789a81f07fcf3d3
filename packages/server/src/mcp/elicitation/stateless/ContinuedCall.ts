/**
 * The next stateless call after one that a question ended: submits the client's answers and follows the same turn from
 * where the earlier call stopped. A state that is used twice does no harm: the first answer to a question counts, and the
 * turn is not started again. An answer that cannot be read is none (L7).
 */
import { ConversationsView } from "../../../ConversationsView.ts"
import { parseConversationId } from "@colloquy/protocol/Ids"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import * as Effect from "effect/Effect"
import type { CallProgress } from "../../codex/CallProgress.ts"
import { badId, notAvailable, inThread } from "../../codex/ToolResults.ts"
import { continueTurn } from "../../codex/TurnCall.ts"
import type { ConnectionState } from "../../ConnectionState.ts"
import type { InputRequired, Members, RequestContext } from "../../RequestContext.ts"
import { readCallState } from "./CallState.ts"
import { submitResponses } from "./ReturnedAnswers.ts"

/** Resolves with the result of the turn, or fails with `InputRequired` for the next question. */
export const continueCall = (
  resumed: { readonly state: unknown; readonly responses: Members },
  context: RequestContext,
  connection: ConnectionState,
  progress: CallProgress | undefined,
): Effect.Effect<CallToolResult, JsonRpcError | InputRequired, ConversationsView> =>
  // A cancelled call interrupts its turn, however far it came: no other call would.
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const conversations = yield* ConversationsView
      const state = yield* readCallState(resumed.state)
      const parsed = parseConversationId(state.conversation)
      if ("problem" in parsed) return badId("thread_id", parsed.problem)
      const found = yield* Effect.result(conversations.get(parsed.id))
      if (found._tag === "Failure") {
        const result = notAvailable(parsed.id, found.failure)
        return found.failure._tag === "NoSuchConversation"
          ? result
          : inThread(connection.threadIdPlace, parsed.id, result)
      }
      const conversation = found.success
      const turn = { conversation, from: state.next, progress }
      const continued = Effect.andThen(
        submitResponses(conversation, state.asked, resumed.responses),
        continueTurn(connection, context, turn, state.turn),
      )
      return yield* Effect.onInterrupt(restore(continued), () => conversation.cancel(state.turn))
    }),
  )
