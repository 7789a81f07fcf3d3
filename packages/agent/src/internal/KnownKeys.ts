/** Refuses unknown keys of an options object, and names the key that was probably meant. Types refuse them as well. */
import { unknownKey } from "@colloquy/protocol/UnknownKey"
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

/** Throws `UnknownOption` for the first key that is not known. */
export const checkKeys = (of: string, options: object, known: ReadonlyArray<string>): void => {
  const found = unknownKey(options, known)
  if (found === undefined) return
  const { key, meant } = found
  throw new UnknownOption({ of, key, known, ...(meant === undefined ? {} : { meant }) })
}

const shown = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value.slice(0, 64)) : String(value)

/** Throws `BadOption` unless the value, which types cannot check in every program, is what the option expects. */
export const checkOption = (
  option: string,
  isExpected: boolean,
  expected: string,
  value: unknown,
): void => {
  if (!isExpected) throw new BadOption({ option, expected, got: shown(value) })
}
