/** The tool `conversationFork`: a new conversation that begins with a part of another one's history. */
import { ConversationsView } from "../../ConversationsView.ts"
import { removeOnFailure } from "../../RemoveOnFailure.ts"
import type { ConversationFork } from "@colloquy/protocol/mcp/ConversationTools"
import * as Effect from "effect/Effect"
import type { RequestContext } from "../RequestContext.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { stateOf } from "./ConversationStatus.ts"
import { findConversation } from "./FindConversation.ts"
import { type Refusal, Refused, refusedBy, type Value } from "./Results.ts"

type ForkRule = Parameters<ConversationsView["Service"]["fork"]>[1]

type Arguments = (typeof ConversationFork)["arguments"]["Type"]

const ruleOf = ({ before_message: nth, drop_last_messages: n }: Arguments): ForkRule | Refused => {
  if (nth !== undefined && n !== undefined) {
    return new Refused({
      message: "expected `drop_last_messages` or `before_message`, not both",
    })
  }
  return nth === undefined
    ? { _tag: "DropLastUserMessages", n: n ?? 0 }
    : { _tag: "BeforeUserMessage", nth }
}

/** Resolves with the id of the new conversation, which becomes the latest of the connection. */
export const conversationFork = Effect.fn("ConversationFork.conversationFork")(function* (
  args: Arguments,
  context: RequestContext,
  connection: ConnectionState,
): Effect.fn.Return<Value, Refusal, ConversationsView> {
  const conversations = yield* ConversationsView
  const rule = ruleOf(args)
  if (rule._tag === "Refused") return yield* rule
  const { id } = yield* findConversation(args.conversation_id)
  const fork = yield* Effect.mapError(conversations.fork(id, rule), refusedBy)
  const { settings } = yield* removeOnFailure(fork.id)(stateOf(fork))
  connection.created(fork.id, context.requestId)
  connection.setLatest(context, fork.id)
  return { conversation_id: fork.id, model: settings.model }
})
