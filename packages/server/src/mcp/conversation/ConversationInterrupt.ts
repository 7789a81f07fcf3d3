/** The tool `conversationInterrupt`: interrupts the running turn of a conversation. */
import type { ConversationsView } from "../../ConversationsView.ts"
import type { ConversationInterrupt } from "@colloquy/protocol/mcp/ConversationTools"
import * as Effect from "effect/Effect"
import { stateOf } from "./ConversationStatus.ts"
import { findConversation } from "./FindConversation.ts"
import { type Refusal, refusedBy, type Value } from "./Results.ts"

/** Resolves once the interrupt was accepted, before the turn has ended. `interrupted`: whether a turn was running. */
export const conversationInterrupt = Effect.fn("ConversationInterrupt.conversationInterrupt")(
  function* (
    args: (typeof ConversationInterrupt)["arguments"]["Type"],
  ): Effect.fn.Return<Value, Refusal, ConversationsView> {
    const conversation = yield* findConversation(args.conversation_id)
    const { turn } = yield* stateOf(conversation)
    yield* Effect.mapError(conversation.submit({ type: "interrupt" }), refusedBy)
    return { conversation_id: conversation.id, interrupted: turn !== undefined }
  },
)
