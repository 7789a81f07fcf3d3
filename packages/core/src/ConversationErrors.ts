/** What submitting to a conversation, or finding one, can fail with. */
import * as Schema from "effect/Schema"
import { SettingsError } from "./ConversationSettings.ts"
import { LeaseHeld, LeaseLost, StoreError, StoreLimit } from "./StoreErrors.ts"

/** The conversation is shutting down or has ended. */
export class ConversationClosed extends Schema.TaggedError<ConversationClosed>()(
  "ConversationClosed",
  {},
) {
  override readonly message = "the conversation is closed"
}

/** The submission was refused. Nothing changed and its id stays free. `message` gives the reason and names the limit. */
export class SubmissionRefused extends Schema.TaggedError<SubmissionRefused>()(
  "SubmissionRefused",
  {
    reason: Schema.Literals([
      "UnsupportedOp",
      "TurnRunning",
      "NoTurnRunning",
      "NoSuchTurn",
      "TooManyWaiting",
      "NotQueued",
      "BadQueueChange",
      "ReadingChanged",
      "TooManyListings",
      "TooLarge",
      "DuplicateId",
      "TooManyTurns",
      "UnknownApproval",
      "ClosedApproval",
      "ForeignApproval",
      "OutsideWorkspace",
    ]),
    message: Schema.String,
  },
) {}

/** The provider that a stored conversation was made with is not configured here. */
export class ProviderGone extends Schema.TaggedError<ProviderGone>()("ProviderGone", {
  /** Id of the provider. */
  provider: Schema.String,
}) {
  override get message() {
    return `its model provider \`${this.provider}\` is not configured: add \`model_providers.${this.provider}\``
  }
}

/** The manager is shutting down or has shut down. */
export class ManagerClosed extends Schema.TaggedError<ManagerClosed>()("ManagerClosed", {}) {
  override readonly message = "conversations are being shut down; no new work is taken"
}

/** No conversation has this id or path, or it is being removed. */
export class NoSuchConversation extends Schema.TaggedError<NoSuchConversation>()(
  "NoSuchConversation",
  { id: Schema.String },
) {
  override get message() {
    return `no conversation with id: ${this.id}`
  }
}

/** A limit on conversations is reached. Nothing was created, loaded or unarchived. */
export class TooManyConversations extends Schema.TaggedError<TooManyConversations>()(
  "TooManyConversations",
  {
    /**
     * `total`: conversations that exist. `loaded`: conversations in memory that are busy or cannot be evicted. `owner`:
     * conversations of the owner, by its quota.
     */
    limit: Schema.Literals(["total", "loaded", "owner"]),
    maxConversations: Schema.Int,
  },
) {
  override get message() {
    const of = {
      total: "conversations are open",
      loaded: "conversations are in use",
      owner: "conversations of the principal are open",
    }[this.limit]
    return `${this.maxConversations} ${of} already, which is the limit`
  }
}

/** The conversation is archived, or being archived or made available again. */
export class ConversationArchived extends Schema.TaggedError<ConversationArchived>()(
  "ConversationArchived",
  {},
) {
  override readonly message = "it is archived; unarchive it, or resume it by the path of its file"
}

/**
 * The conversation exists but cannot be used now: it could not be loaded, or the events of the last submission could not
 * be recorded, and then nothing of that submission happened. The next use loads it again.
 */
export class ConversationUnavailable extends Schema.TaggedError<ConversationUnavailable>()(
  "ConversationUnavailable",
  {
    id: Schema.String,
    reason: Schema.String,
    /** The cause as an error, if there is one. `NoSuchConversation`: it was removed, or is being removed. */
    because: Schema.optionalKey(
      Schema.Union([
        LeaseHeld,
        LeaseLost,
        StoreLimit,
        StoreError,
        ProviderGone,
        SettingsError,
        ManagerClosed,
        NoSuchConversation,
        ConversationArchived,
        TooManyConversations,
      ]),
    ),
  },
) {
  override get message() {
    const of = `conversation ${this.id} is `
    // The text of the cause may name the conversation already.
    const reason = this.reason.startsWith(of) ? this.reason.slice(of.length) : this.reason
    return `${of}not available: ${reason}`
  }
}

/** True for a conversation that is archived or removed, or will be in a moment: another attempt fails too. */
export const isGone = ({ because }: { readonly because?: { readonly _tag: string } }): boolean =>
  because?._tag === "ConversationArchived" || because?._tag === "NoSuchConversation"

/** The other process that has the conversation, if that is why a call failed. */
export const holderOf = (error: {
  readonly _tag: string
  readonly because?: unknown
}): LeaseHeld["holder"] | undefined => {
  if (error instanceof LeaseHeld) return error.holder
  return error.because instanceof LeaseHeld ? error.because.holder : undefined
}

/** True where the store takes no changes at the moment, so that a conversation cannot be loaded; its log may be readable. */
export const isUnwritable = (error: unknown): boolean =>
  error instanceof ConversationUnavailable &&
  error.because instanceof StoreError &&
  (error.because.reason === "Denied" || error.because.reason === "Full")

/** Why a submission was not accepted. */
export type SubmitError = ConversationClosed | SubmissionRefused | ConversationUnavailable

/** `from` of a listener lies beyond the next event or is no whole number. */
export class EventsFromFuture extends Schema.TaggedError<EventsFromFuture>()("EventsFromFuture", {
  from: Schema.Number,
  /** Number that the next event gets. */
  next: Schema.Int,
}) {
  override get message() {
    return `from: expected a whole number up to ${this.next}, the next event's; got ${this.from}`
  }
}

/** The conversation has as many listeners as it may have. */
export class TooManyListeners extends Schema.TaggedError<TooManyListeners>()("TooManyListeners", {
  maxListeners: Schema.Int,
}) {
  override get message() {
    return `${this.maxListeners} listeners are attached to the conversation already, which is the limit`
  }
}

/** Why a listener could not be attached. */
export type AttachError = EventsFromFuture | TooManyListeners | ConversationUnavailable

/** The stored conversation that `resumePath` of the settings names cannot be read. Nothing was created. */
export class CannotResume extends Schema.TaggedError<CannotResume>()("CannotResume", {
  path: Schema.String,
  /** What was expected of the path, or why the file cannot be read. */
  reason: Schema.String,
  /** The error of the store, if it was the cause. */
  because: Schema.optionalKey(StoreError),
}) {
  override get message() {
    return `\`experimental_resume\`: ${this.reason}; got ${JSON.stringify(this.path)}`
  }
}

/** Longest name of a conversation, in UTF-16 code units. */
export const maxConversationName = 1000

/** The name of a conversation is blank or too long. */
export class BadConversationName extends Schema.TaggedError<BadConversationName>()(
  "BadConversationName",
  {
    /** Length of the name without white space at its ends, in UTF-16 code units. */
    length: Schema.Int,
  },
) {
  override get message() {
    return `name: expected 1 to ${maxConversationName} characters; got ${this.length}`
  }
}

/** `limit` of a page is no whole number in its range. */
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
