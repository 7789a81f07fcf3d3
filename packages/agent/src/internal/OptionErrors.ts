/** What a program gets that calls a function of `Agent` with options that types would have refused. */
import * as Schema from "effect/Schema"

/** An options object has a key that nothing reads: the program is wrong, so this is thrown or ends a fiber as a defect. */
export class UnknownOption extends Schema.TaggedError<UnknownOption>()("UnknownOption", {
  /** The function that got the options, as it is called. */
  of: Schema.String,
  key: Schema.String,
  /** The known key that is spelt most like it. */
  meant: Schema.optionalKey(Schema.String),
  known: Schema.Array(Schema.String),
}) {
  override get message() {
    const hint =
      this.meant === undefined
        ? `expected one of ${this.known.join(", ")}`
        : `did you mean \`${this.meant}\`?`
    return `${this.of}: unknown option \`${this.key}\`, ${hint}`
  }
}

/** An option has a value that cannot be meant: thrown, or a defect, like `UnknownOption`. */
export class BadOption extends Schema.TaggedError<BadOption>()("BadOption", {
  /** The option as it is reached, such as `Agent.make budget.tokens`. */
  option: Schema.String,
  expected: Schema.String,
  got: Schema.String,
}) {
  override get message() {
    return `${this.option}: expected ${this.expected}, got ${this.got}`
  }
}
