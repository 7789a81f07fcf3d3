/** What opening a conversation and running a turn can fail with. The conversation lives on after each of them. */
import type {
  ConversationUnavailable,
  ManagerClosed,
  TooManyConversations,
} from "@colloquy/core/ConversationErrors"
import type { StoreError } from "@colloquy/core/StoreErrors"
import * as Schema from "effect/Schema"

/** The scope of the chat has closed: it takes no more turns, and a turn that ran was interrupted. */
export class ChatClosed extends Schema.TaggedError<ChatClosed>()("ChatClosed", {
  conversationId: Schema.String,
}) {
  override get message() {
    return `the chat of conversation ${this.conversationId} was used after its scope had closed`
  }
}

/** The turn could not go on: the model was not reachable, or refused the request. */
export class TurnFailed extends Schema.TaggedError<TurnFailed>()("TurnFailed", {
  turnId: Schema.String,
  /** The text of the turn's `error` event. */
  message: Schema.String,
}) {}

/** The turn was interrupted before its answer. */
export class TurnInterrupted extends Schema.TaggedError<TurnInterrupted>()("TurnInterrupted", {
  turnId: Schema.String,
  /** The reason in its `turn_aborted` event. */
  reason: Schema.String,
}) {
  override get message() {
    return `the turn was stopped before its answer: ${this.reason}`
  }
}

/** How the turn ended is not known: the conversation ended during it, or nothing of it can be recorded any more. */
export class TurnLost extends Schema.TaggedError<TurnLost>()("TurnLost", {
  turnId: Schema.String,
  reason: Schema.String,
}) {
  override get message() {
    return `the turn was lost: ${this.reason}`
  }
}

/** Nothing of the conversation can be recorded any more, or `from` is not one of its events. */
export class EventsLost extends Schema.TaggedError<EventsLost>()("EventsLost", {
  reason: Schema.String,
}) {
  override get message() {
    return `the events of the conversation are not available: ${this.reason}`
  }
}

/** The conversation did not accept the input; nothing happened. */
export class AskRefused extends Schema.TaggedError<AskRefused>()("AskRefused", {
  /** `BadInput`, `SubmissionRefused.reason`, or why the conversation cannot be used. */
  reason: Schema.String,
  message: Schema.String,
}) {}

/** A budget is used up. A turn that ran was interrupted, and nothing more is asked on this budget. */
export class BudgetExceeded extends Schema.TaggedError<BudgetExceeded>()("BudgetExceeded", {
  budget: Schema.Literals(["tokens", "turns", "time"]),
  /** Whose budget: that of this `ask`, or that of the chat and its children. */
  of: Schema.Literals(["ask", "chat"]),
  /** In tokens, turns or milliseconds, like `used`. */
  limit: Schema.Number,
  used: Schema.Number,
}) {
  override get message() {
    const unit = this.budget === "time" ? " ms" : ` ${this.budget}`
    return `the budget of the ${this.of} is used up: ${this.used} of ${this.limit}${unit}`
  }
}

/** The model's answer does not match the schema, neither at first nor after the correction. */
export class AnswerMismatch extends Schema.TaggedError<AnswerMismatch>()("AnswerMismatch", {
  turnId: Schema.String,
  /** What the model answered last. */
  text: Schema.String,
  /** What was expected, and where. */
  problem: Schema.String,
}) {
  override get message() {
    return `the answer does not match the schema: ${this.problem}`
  }
}

/** Why a turn has no result. */
export type TurnError =
  | TurnFailed
  | TurnInterrupted
  | TurnLost
  | AskRefused
  | BudgetExceeded
  | AnswerMismatch
  | ChatClosed

/** Why a conversation could not be created or resumed. */
export type OpenError =
  | ConversationUnavailable
  | TooManyConversations
  | ManagerClosed
  | StoreError
  | ChatClosed
