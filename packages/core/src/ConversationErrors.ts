/** What submitting to a conversation, or finding one, can fail with. */
import * as Schema from "effect/Schema"
import { SettingsError } from "./ConversationSettings.ts"
import { LeaseHeld, LeaseLost, StoreError, StoreLimit } from "./StoreErrors.ts"

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
      "TooManyListings",
      "TooLarge",
      "DuplicateId",
      "TooManyTurns",
      "UnknownApproval",
      "ClosedApproval",
      "ForeignApproval",
    ]),
    message: Schema.String,
  },
) {}

/** The provider that a stored conversation was made with is not configured any more. */
export class ProviderGone extends Schema.TaggedError<ProviderGone>()("ProviderGone", {
  /** Its id. */
  provider: Schema.String,
}) {
  override get message() {
    return `its model provider \`${this.provider}\` is not configured any more`
  }
}

/**
 * The conversation exists but cannot be used now: it could not be loaded, or what it was about to do could not be recorded,
 * and nothing of that happened. The next use loads it again.
 */
export class ConversationUnavailable extends Schema.TaggedError<ConversationUnavailable>()(
  "ConversationUnavailable",
  {
    id: Schema.String,
    reason: Schema.String,
    /** What stands behind it, where a program can tell: who has the lease, which limit was reached, which provider is gone. */
    because: Schema.optionalKey(
      Schema.Union([LeaseHeld, LeaseLost, StoreLimit, StoreError, ProviderGone, SettingsError]),
    ),
  },
) {
  override get message() {
    const of = `conversation ${this.id} is `
    // What stands behind it may name the conversation already.
    const reason = this.reason.startsWith(of) ? this.reason.slice(of.length) : this.reason
    return `${of}not available: ${reason}`
  }
}

export type SubmitError = ConversationClosed | SubmissionRefused | ConversationUnavailable

/** A listener asked for events that do not exist yet, or for no whole number. */
export class EventsFromFuture extends Schema.TaggedError<EventsFromFuture>()("EventsFromFuture", {
  from: Schema.Number,
  /** Number of the next event. */
  next: Schema.Int,
}) {
  override get message() {
    return `from: expected a whole number up to ${this.next}, the next event's; got ${this.from}`
  }
}

export class TooManyListeners extends Schema.TaggedError<TooManyListeners>()("TooManyListeners", {
  maxListeners: Schema.Int,
}) {
  override get message() {
    return `${this.maxListeners} listeners are attached to the conversation already, which is the limit`
  }
}

export type AttachError = EventsFromFuture | TooManyListeners | ConversationUnavailable

export class NoSuchConversation extends Schema.TaggedError<NoSuchConversation>()(
  "NoSuchConversation",
  { id: Schema.String },
) {
  override get message() {
    return `no conversation with id: ${this.id}`
  }
}

/** The stored conversation that `resumePath` of the settings names cannot be read. Nothing was made. */
export class CannotResume extends Schema.TaggedError<CannotResume>()("CannotResume", {
  path: Schema.String,
  /** What was expected of the path, or why the file cannot be read. */
  reason: Schema.String,
  /** Present where the store said why. */
  because: Schema.optionalKey(StoreError),
}) {
  override get message() {
    return `\`experimental_resume\`: ${this.reason}; got ${JSON.stringify(this.path)}`
  }
}

/** A limit on conversations is reached; nothing was made or loaded. */
export class TooManyConversations extends Schema.TaggedError<TooManyConversations>()(
  "TooManyConversations",
  {
    /** `total`: that exist. `loaded`: that are in memory and busy, or cannot be stored. */
    limit: Schema.Literals(["total", "loaded"]),
    maxConversations: Schema.Int,
  },
) {
  override get message() {
    return this.limit === "total"
      ? `${this.maxConversations} conversations are open already, which is the limit`
      : `${this.maxConversations} conversations are in use already, which is the limit`
  }
}

/** The manager has been shut down, or is about to be. */
export class ManagerClosed extends Schema.TaggedError<ManagerClosed>()("ManagerClosed", {}) {
  override readonly message = "conversations are being shut down; no new work is taken"
}

export class BadPageLimit extends Schema.TaggedError<BadPageLimit>()("BadPageLimit", {
  limit: Schema.Number,
  maxLimit: Schema.Int,
}) {
  override get message() {
    return `limit: expected a whole number from 1 to ${this.maxLimit}; got ${this.limit}`
  }
}

/** The cursor of a page is not one that a list of this server gave out. */
export class BadCursor extends Schema.TaggedError<BadCursor>()("BadCursor", {}) {
  override readonly message = "cursor: expected the nextCursor of an earlier page"
}
