/** What submitting to a conversation, or finding one, can fail with. */
import * as Schema from "effect/Schema"

/** The conversation is shutting down or gone. */
export class ConversationClosed extends Schema.TaggedError<ConversationClosed>()(
  "ConversationClosed",
  {},
) {
  override readonly message = "the conversation is closed"
}

/** The submission was not taken; nothing changed, its id stays free. `message` says why and names the limit. */
export class SubmissionRefused extends Schema.TaggedError<SubmissionRefused>()(
  "SubmissionRefused",
  {
    reason: Schema.Literals([
      "UnsupportedOp",
      "TurnRunning",
      "NoTurnRunning",
      "TooManyWaiting",
      "TooLarge",
      "DuplicateId",
    ]),
    message: Schema.String,
  },
) {}

export type SubmitError = ConversationClosed | SubmissionRefused

export class NoSuchConversation extends Schema.TaggedError<NoSuchConversation>()(
  "NoSuchConversation",
  { id: Schema.String },
) {
  override get message() {
    return `no conversation with id: ${this.id}`
  }
}

export class TooManyConversations extends Schema.TaggedError<TooManyConversations>()(
  "TooManyConversations",
  { maxConversations: Schema.Int },
) {
  override get message() {
    return `${this.maxConversations} conversations are open already, which is the limit`
  }
}
