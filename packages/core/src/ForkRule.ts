/** Where the log of a conversation is cut to create another one from its beginning. */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import * as Schema from "effect/Schema"

/** What the new conversation keeps. User messages are those of a person; messages that Colloquy adds do not count. */
export type ForkRule =
  /** Drops the n-th user message from the last and everything after it. 0 keeps everything. */
  | { readonly _tag: "DropLastUserMessages"; readonly n: number }
  /** Keeps what comes before the user message with this number, counted from 0. */
  | { readonly _tag: "BeforeUserMessage"; readonly nth: number }
  /** Keeps what comes before the turn of this submission, which may still run. */
  | { readonly _tag: "BeforeSubmission"; readonly id: SubmissionId }
  /** Keeps everything up to the end of the turn of this submission. */
  | { readonly _tag: "ThroughSubmission"; readonly id: SubmissionId }
  /** Keeps the events with smaller numbers; at least 1, so that the first event is kept. */
  | { readonly _tag: "BeforeEvent"; readonly seq: number }

/**
 * The rule has a number that is not a count, counts more user messages or events than there are, or names a submission
 * without a turn, or keeps a turn that has not ended. The original program creates an empty conversation in the last case;
 * here a caller that wants an empty one creates it.
 */
export class BadForkRule extends Schema.TaggedError<BadForkRule>()("BadForkRule", {
  field: Schema.Literals(["n", "nth", "seq", "id"]),
  value: Schema.Union([Schema.Number, Schema.String]),
  /** Number of user messages, if the rule counts more than there are. */
  userMessages: Schema.optionalKey(Schema.Int),
  /** Number of the event after the last, if the rule names a later one. */
  next: Schema.optionalKey(Schema.Int),
}) {
  override get message() {
    if (this.field === "id") return `id: no ended turn has the id \`${this.value}\``
    if (this.field === "seq") {
      const most = this.next === undefined ? "" : ` to ${this.next}`
      return `seq: expected the number of an event, from 1${most}; got ${this.value}`
    }
    const expected =
      this.userMessages === undefined
        ? "a whole number of user messages, 0 or more"
        : this.field === "n"
          ? `at most ${this.userMessages}, as many user messages as there are`
          : `the number of a user message, of which there are ${this.userMessages}, from 0`
    return `${this.field}: expected ${expected}; got ${this.value}`
  }
}

/** What is wrong with the rule by itself, whatever the history; undefined if nothing is. */
export const problemOf = (rule: ForkRule): BadForkRule | undefined => {
  switch (rule._tag) {
    case "DropLastUserMessages":
      return isCount(rule.n) ? undefined : new BadForkRule({ field: "n", value: rule.n })
    case "BeforeUserMessage":
      return isCount(rule.nth) ? undefined : new BadForkRule({ field: "nth", value: rule.nth })
    case "BeforeEvent":
      return isCount(rule.seq) && rule.seq > 0
        ? undefined
        : new BadForkRule({ field: "seq", value: rule.seq })
    default:
      return undefined
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0
