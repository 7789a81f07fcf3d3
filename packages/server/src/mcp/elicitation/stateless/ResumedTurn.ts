/**
 * The next round of a call whose turn asked something: the client's answers go to the conversation, and the call goes on
 * where it was. A state that comes again does no harm: the first answer to a question wins, and the turn is not begun
 * anew. Keeps its part of L7: an answer that cannot be read is none, and the question is put again.
 */
import { ConversationsView } from "../../../ConversationsView.ts"
import { parseConversationId } from "@colloquy/protocol/Ids"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import * as Effect from "effect/Effect"
import type { InputRequired, Members } from "../../RequestContext.ts"
import { badId, failureIn } from "../../codex/ToolResults.ts"
import { followTurn, inThread, type ToolCaller } from "../../codex/TurnCall.ts"
import { bring } from "./AskedConversation.ts"
import { readTurnState } from "./TurnState.ts"

export const resumeTurn = (
  resumed: { readonly state: unknown; readonly responses: Members },
  call: ToolCaller,
): Effect.Effect<CallToolResult, JsonRpcError | InputRequired, ConversationsView> =>
  // A round that is taken back stops the turn, however far it came: nobody else would.
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const manager = yield* ConversationsView
      const state = yield* readTurnState(resumed.state)
      const parsed = parseConversationId(state.conversation)
      if ("problem" in parsed) return badId("thread_id", parsed.problem)
      const found = yield* Effect.result(manager.get(parsed.id))
      if (found._tag === "Failure") {
        const { _tag, message } = found.failure
        const result = failureIn(parsed.id, message)
        return _tag === "NoSuchConversation" ? result : inThread(call, parsed.id, result)
      }
      const conversation = found.success
      const goOn = Effect.andThen(
        bring(conversation, state.asked, resumed.responses),
        followTurn({ ...call, conversation, from: state.next }, state.turn),
      )
      return yield* restore(goOn).pipe(Effect.onInterrupt(() => conversation.cancel(state.turn)))
    }),
  )
