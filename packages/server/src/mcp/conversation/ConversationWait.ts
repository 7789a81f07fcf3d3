/** The tool `conversationWait`: waits until no turn is running or waiting, within a time limit. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationsView } from "../../ConversationsView.ts"
import { runUntil } from "@colloquy/core/listeners/Listening"
import { type ConversationWait, waitBounds } from "@colloquy/protocol/mcp/ConversationTools"
import { isTerminal } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { submitReturned } from "../elicitation/stateless/ReturnedAnswers.ts"
import { unlessAsked } from "../elicitation/stateless/UntilAsked.ts"
import type { InputRequired, RequestContext } from "../RequestContext.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { conversationEnded } from "./ConversationEvents.ts"
import { stateOf, statusOf } from "./ConversationStatus.ts"
import { findConversation } from "./FindConversation.ts"
import { type Refusal, refusedBy, type Value } from "./Results.ts"

/** Sets `last.message` to the message of each turn that ends; null for a turn that ended without one. */
const untilIdle = (conversation: Conversation, last: { message: string | null }) =>
  Effect.gen(function* () {
    const listener = yield* conversation.attach({ from: 0 })
    /** Number of the first event that was not read. */
    let unread = 0
    const isIdle = Effect.map(
      stateOf(conversation),
      (state) => statusOf(state) === "idle" && unread >= state.seq,
    )
    yield* runUntil(listener, isIdle, {
      event: ({ msg, seq }) => {
        unread = seq + 1
        if (!isTerminal(msg)) return
        last.message = msg.type === "task_complete" ? msg.last_agent_message : null
      },
    })
  }).pipe(
    Effect.scoped,
    Effect.catchTag("Done", () => Effect.fail(conversationEnded())),
    Effect.mapError(refusedBy),
  )

/** Resolves when the conversation is idle or the time is up, with the message of the last turn that ended. */
export const conversationWait = Effect.fn("ConversationWait.conversationWait")(function* (
  args: (typeof ConversationWait)["arguments"]["Type"],
  context: RequestContext,
  connection: ConnectionState,
): Effect.fn.Return<Value, Refusal | InputRequired | JsonRpcError, ConversationsView> {
  const conversation = yield* findConversation(args.conversation_id)
  const last: { message: string | null } = { message: null }
  const isStateless = context.era === "stateless"
  if (isStateless) yield* submitReturned(conversation, context)
  const idle = untilIdle(conversation, last)
  const done = yield* Effect.timeoutOption(
    isStateless ? unlessAsked(conversation, context, connection, idle) : idle,
    args.timeout_ms ?? waitBounds.default,
  )
  return {
    conversation_id: conversation.id,
    status: statusOf(yield* stateOf(conversation)),
    timed_out: done._tag === "None",
    last_agent_message: last.message,
  }
})
