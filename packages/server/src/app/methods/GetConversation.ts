/** `getConversation`: the state of a conversation now. The original has no such method. */
import type { State } from "@colloquy/core/decider/State"
import type { GetConversation } from "@colloquy/protocol/app/Conversations"
import * as Effect from "effect/Effect"
import { type AppHandler, find, stateOf } from "../AppCall.ts"
import { conversationResult } from "../ConversationResult.ts"

const statusOf = ({ approvals, turn, waiting }: State) => {
  if (turn === undefined) return waiting.length === 0 ? "idle" : "running"
  return approvals.open.length === 0 ? "running" : "waitingForApproval"
}

/** Handler of the method. */
export const getConversation: AppHandler<typeof GetConversation> = Effect.fnUntraced(function* ({
  conversationId,
}) {
  const conversation = yield* find(conversationId)
  const state = yield* stateOf(conversation)
  const { approvals, seq, settings, turn, usage, waiting } = state
  return {
    ...conversationResult(conversation, settings),
    status: statusOf(state),
    ...(turn === undefined ? {} : { turnId: turn.id }),
    waitingMessages: waiting.length,
    openQuestions: approvals.open.length,
    nextSeq: seq,
    cwd: settings.cwd,
    approvalPolicy: settings.approvalPolicy,
    sandboxPolicy: settings.sandboxPolicy,
    ...(usage === undefined ? {} : { totalTokens: usage.total_tokens }),
  }
})
