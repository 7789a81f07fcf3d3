/** Where the log of a conversation is cut to make another one of it. */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import * as Schema from "effect/Schema"

export type ForkRule =
  /** August: the n-th user message from the last and everything after it goes. 0 keeps everything. */
  | { readonly _tag: "DropLastUserMessages"; readonly n: number }
  /** September: keeps what comes before the user message with that number, from 0. */
  | { readonly _tag: "BeforeUserMessage"; readonly nth: number }
  /** Keeps what comes before the first message of that submission. */
  | { readonly _tag: "BeforeSubmission"; readonly id: SubmissionId }
  /** Keeps everything up to the end of that submission's turn. */
  | { readonly _tag: "ThroughSubmission"; readonly id: SubmissionId }
  /** Keeps the events with smaller numbers: at least the first. */
  | { readonly _tag: "BeforeEvent"; readonly seq: number }

/**
 * The rule counts something that cannot be counted, user messages that the history does not have, or names a submission
 * without a turn that is over. The original
 * makes an empty conversation of the latter; who wants that asks for one.
 */
export class BadForkRule extends Schema.TaggedError<BadForkRule>()("BadForkRule", {
  field: Schema.Literals(["n", "nth", "seq", "id"]),
  value: Schema.Union([Schema.Number, Schema.String]),
  /** How many user messages there are to count, where that was not enough. */
  userMessages: Schema.optionalKey(Schema.Int),
  /** Number of the event after the last, where the rule names a later one. */
  next: Schema.optionalKey(Schema.Int),
}) {
  override get message() {
    if (this.field === "id") return `id: no turn that is over has the id \`${this.value}\``
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
