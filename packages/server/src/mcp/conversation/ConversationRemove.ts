/** The tool `conversationRemove`: deletes a conversation. */
import { ConversationsView } from "../../ConversationsView.ts"
import type { ConversationRemove } from "@colloquy/protocol/mcp/ConversationTools"
import * as Effect from "effect/Effect"
import { findConversation } from "./FindConversation.ts"
import { cannotGet, type Refusal, type Value } from "./Results.ts"

/** Resolves once the conversation was removed; a turn that ran is interrupted. */
export const conversationRemove = Effect.fn("ConversationRemove.conversationRemove")(function* (
  args: (typeof ConversationRemove)["arguments"]["Type"],
): Effect.fn.Return<Value, Refusal, ConversationsView> {
  const conversations = yield* ConversationsView
  const { id } = yield* findConversation(args.conversation_id)
  yield* Effect.mapError(conversations.remove(id), (error) => cannotGet(id, error))
  return { conversation_id: id }
})
