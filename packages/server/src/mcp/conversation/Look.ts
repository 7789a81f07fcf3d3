/** `conversationStatus`, `conversationsList`, `conversationInterrupt`: short questions and one short word. */
import type { Conversation } from "@colloquy/core/Conversation"
import { ConversationsView } from "../../ConversationsView.ts"
import type { State } from "@colloquy/core/decider/State"
import type {
  ConversationInterrupt,
  ConversationsList,
  ConversationStatus,
} from "@colloquy/protocol/mcp/ConversationTools"
import * as Effect from "effect/Effect"
import { type Call, find } from "./Call.ts"
import { Refused, type Value } from "./Results.ts"

export const stateOf = (conversation: Conversation): Effect.Effect<State, Refused> =>
  Effect.mapError(conversation.state, ({ message }) => new Refused({ message }))

export const statusOf = ({ approvals, turn, waiting }: State) => {
  if (turn === undefined) return waiting.length === 0 ? "idle" : "running"
  return approvals.open.length === 0 ? "running" : "waiting_for_approval"
}

export const status = Effect.fnUntraced(function* (
  args: (typeof ConversationStatus)["arguments"]["Type"],
  { connection }: Call,
): Effect.fn.Return<Value, Refused, ConversationsView> {
  const conversation = yield* find(args.conversation_id)
  const state = yield* stateOf(conversation)
  const { approvals, seq, settings, turn, usage, waiting } = state
  return {
    conversation_id: conversation.id,
    status: statusOf(state),
    ...(turn === undefined ? {} : { message_id: turn.id }),
    waiting_messages: waiting.length,
    open_questions: approvals.open.length,
    events: seq,
    streaming: connection.streams.has(conversation.id),
    model: settings.model,
    cwd: settings.cwd,
    approval_policy: settings.approvalPolicy,
    ...(usage === undefined ? {} : { total_tokens: usage.total_tokens }),
  }
})

export const interrupt = Effect.fnUntraced(function* (
  args: (typeof ConversationInterrupt)["arguments"]["Type"],
): Effect.fn.Return<Value, Refused, ConversationsView> {
  const conversation = yield* find(args.conversation_id)
  const { turn } = yield* stateOf(conversation)
  yield* Effect.mapError(
    conversation.submit({ type: "interrupt" }),
    ({ message }) => new Refused({ message }),
  )
  return { conversation_id: conversation.id, interrupted: turn !== undefined }
})

const defaultLimit = 25
const maxLimit = 100

/** In UTF-16 code units. */
const maxTitleLength = 80

/** White space folded, and cut. */
export const titled = (text: string): string => {
  const folded = text.trim().replaceAll(/\s+/g, " ")
  return folded.length > maxTitleLength ? `${folded.slice(0, maxTitleLength - 1)}…` : folded
}

/** Reads no conversation: what the store tells of each is enough. */
export const list = Effect.fnUntraced(function* (
  args: (typeof ConversationsList)["arguments"]["Type"],
): Effect.fn.Return<Value, Refused, ConversationsView> {
  const manager = yield* ConversationsView
  const { cursor, limit = defaultLimit } = args
  const page = yield* Effect.mapError(
    manager.list({
      limit: Math.min(limit, maxLimit),
      ...(cursor === undefined ? {} : { cursor }),
    }),
    ({ message }) => new Refused({ message }),
  )
  return {
    conversations: page.items.map(({ id, preview = "" }) => ({
      conversation_id: id,
      title: titled(preview),
    })),
    ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }),
  }
})
