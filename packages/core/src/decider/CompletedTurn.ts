/**
 * Turns that the model has answered to their end, for an observer beside the conversation: `ConversationsOptions.onTurnCompleted`.
 * Turns that failed or were interrupted are none, nor are those that only summarise the history.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type { State } from "./State.ts"
import type { Decision, Input } from "./Decision.ts"

export interface CompletedTurn {
  readonly conversationId: ConversationId
  readonly turnId: SubmissionId
  /** Working directory of the turn. Absolute. */
  readonly cwd: string
  /** What the user said in the conversation so far, oldest first, that of this turn included. */
  readonly inputMessages: ReadonlyArray<string>
  /** Null where the model said nothing. */
  readonly lastAgentMessage: string | null
}

/**
 * Called once for each, after its `task_complete` is recorded and delivered. The conversation waits for the call, so that it
 * must return at once; what it throws is logged.
 */
export type OnTurnCompleted = (turn: CompletedTurn) => void

/** What a decision says of the turn that it completes. */
export type Completion = Pick<CompletedTurn, "turnId" | "cwd" | "lastAgentMessage">

export const completionOf = (
  { settings: { cwd }, turn }: State,
  input: Input,
  { events }: Decision,
): Completion | undefined => {
  if (input._tag !== "Advance" || turn?.id !== input.turnId || turn.compacts) return undefined
  for (const { id, msg } of events) {
    if (msg.type === "task_complete" && id === turn.id) {
      return { turnId: turn.id, cwd, lastAgentMessage: msg.last_agent_message }
    }
  }
  return undefined
}

const messageOf = ({ msg }: Event): ReadonlyArray<string> =>
  msg.type === "user_message" && (msg.kind ?? "plain") === "plain" ? [msg.message] : []

/** @param log every durable event of the conversation */
export const notifyCompleted = (
  onTurnCompleted: OnTurnCompleted,
  conversationId: ConversationId,
  completion: Completion,
  log: ReadonlyArray<Event>,
): Effect.Effect<void> =>
  Effect.sync(() =>
    onTurnCompleted({ conversationId, ...completion, inputMessages: log.flatMap(messageOf) }),
  ).pipe(Effect.catchDefect((defect) => Effect.logError("an observer of turns failed", defect)))
