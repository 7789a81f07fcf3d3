/**
 * Turns that ended with an answer of the model, for an observer outside the conversation
 * (`ConversationsOptions.onTurnCompleted`). Turns that failed or were interrupted, and turns that only summarise the
 * history, do not count.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type { State } from "./State.ts"
import type { Decision, Input } from "./Decision.ts"

/** A completed turn. */
export interface CompletedTurn {
  readonly conversationId: ConversationId
  readonly turnId: SubmissionId
  /** Working directory of the turn. Absolute. */
  readonly cwd: string
  /** Messages of the user in the conversation so far, oldest first, those of this turn included. */
  readonly inputMessages: ReadonlyArray<string>
  /** Null when the model sent no message. */
  readonly lastAgentMessage: string | null
}

/**
 * Called once per completed turn, after its `task_complete` is recorded and delivered. It must return at once, because the
 * conversation waits for it. An exception is logged.
 */
export type OnTurnCompleted = (turn: CompletedTurn) => void

/** The part of a completed turn that its decision contains. */
export type Completion = Pick<CompletedTurn, "turnId" | "cwd" | "lastAgentMessage">

/** The turn that the decision completes, if any. */
export const completionOf = (
  { settings: { cwd }, turn }: State,
  input: Input,
  { events }: Decision,
): Completion | undefined => {
  if (input._tag !== "Advance" || turn?.id !== input.turnId) return undefined
  if (turn.compacts || turn.runsCommand === true) return undefined
  for (const { id, msg } of events) {
    if (msg.type === "task_complete" && id === turn.id) {
      return { turnId: turn.id, cwd, lastAgentMessage: msg.last_agent_message }
    }
  }
  return undefined
}

const messageOf = ({ msg }: Event): ReadonlyArray<string> =>
  msg.type === "user_message" && (msg.kind ?? "plain") === "plain" ? [msg.message] : []

/**
 * Calls the observer. Never fails. The events are read with the first use of `inputMessages`, which most observers never
 * make.
 *
 * @param log the durable events of the conversation, to which further ones may be appended
 */
export const notifyCompleted = (
  onTurnCompleted: OnTurnCompleted,
  conversationId: ConversationId,
  completion: Completion,
  log: ReadonlyArray<Event>,
): Effect.Effect<void> =>
  Effect.sync(() => {
    const { length } = log
    onTurnCompleted({
      conversationId,
      ...completion,
      get inputMessages() {
        return log.slice(0, length).flatMap(messageOf)
      },
    })
  }).pipe(
    Effect.catchDefect((defect) => Effect.logError("observer of completed turns failed", defect)),
  )
