/** The tool `conversationStatus`: what a conversation is doing, without loading more than its state. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationsView } from "../../ConversationsView.ts"
import type { State } from "@colloquy/core/decider/State"
import type { ConversationStatus } from "@colloquy/protocol/mcp/ConversationTools"
import * as Effect from "effect/Effect"
import type { RequestContext } from "../RequestContext.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { findConversation } from "./FindConversation.ts"
import { type Refusal, type Refused, refusedBy, type Value } from "./Results.ts"

/** The state of the conversation; a refusal if it cannot be loaded now. */
export const stateOf = (conversation: Conversation): Effect.Effect<State, Refused> =>
  Effect.mapError(conversation.state, refusedBy)

/** The status as clients see it. A conversation whose messages wait for their turn counts as running. */
export const statusOf = ({
  approvals,
  turn,
  waiting,
}: State): "idle" | "running" | "waiting_for_approval" => {
  if (turn === undefined) return waiting.length === 0 ? "idle" : "running"
  return approvals.open.length === 0 ? "running" : "waiting_for_approval"
}

/** What the status and the resource of a conversation have in common, in the order of the wire; `more` is put in between. */
export const statusFields = (state: State, more: Value = {}): Value => {
  const { approvals, seq, settings, turn, usage, waiting } = state
  return {
    status: statusOf(state),
    ...(turn === undefined ? {} : { message_id: turn.id }),
    waiting_messages: waiting.length,
    open_questions: approvals.open.length,
    events: seq,
    ...more,
    model: settings.model,
    cwd: settings.cwd,
    approval_policy: settings.approvalPolicy,
    ...(usage === undefined ? {} : { total_tokens: usage.total_tokens }),
  }
}

/** Resolves with a snapshot of the status. */
export const conversationStatus = Effect.fn("ConversationStatus.conversationStatus")(function* (
  args: (typeof ConversationStatus)["arguments"]["Type"],
  _context: RequestContext,
  { streams }: ConnectionState,
): Effect.fn.Return<Value, Refusal, ConversationsView> {
  const conversation = yield* findConversation(args.conversation_id)
  const state = yield* stateOf(conversation)
  const streaming = streams.has(conversation.id)
  return { conversation_id: conversation.id, ...statusFields(state, { streaming }) }
})
