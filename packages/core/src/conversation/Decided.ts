/** A decision of a conversation on one command, and the reply to the caller of the command. */
import type { Completion } from "../decider/CompletedTurn.ts"
import * as Effect from "effect/Effect"
import type { Decision } from "../decider/Decision.ts"
import type { Receipt } from "../decider/Receipts.ts"
import {
  ConversationClosed,
  type ConversationUnavailable,
  type SubmitError,
} from "../ConversationErrors.ts"
import { type Command, reply, type Reply } from "./Inbox.ts"
import type { Journal } from "./Journal.ts"

/** A decision that is staged. Neither callers nor listeners see anything of it before it is recorded. */
export interface Decided {
  /** Absent when no command caused the decision, as on recovery. */
  readonly command?: Command
  readonly decision: Decision
  /** The turn that the decision completes, for `onTurnCompleted`. */
  readonly completion?: Completion
}

/**
 * The receipt that the reply to a submission has.
 *
 * @param lost why nothing can be recorded any more, if so
 */
export const receiptOf = (
  answer: Reply,
  lost: ConversationUnavailable | undefined,
): Effect.Effect<Receipt, SubmitError> => {
  if (answer._tag === "Closed") {
    return Effect.fail(answer.because ?? lost ?? new ConversationClosed())
  }
  const { receipt, refused } = answer.decision
  return receipt === undefined
    ? Effect.fail(refused ?? new ConversationClosed())
    : Effect.succeed(receipt)
}

/** Replies to the command of a committed decision, if it waits for a reply. The caller's fiber runs at once. */
export const replyTo = ({ command, decision }: Decided, journal: Journal): void => {
  if (command === undefined) return
  if ("suspend" in command) return reply(command.suspend, decision.proceed === true)
  if (command.reply === undefined) return
  const isStep = decision.proceed === true && command.input._tag === "Advance"
  const step = isStep ? { step: journal.nextStep() } : {}
  reply(command.reply, { _tag: "Decision", decision, ...step })
}
