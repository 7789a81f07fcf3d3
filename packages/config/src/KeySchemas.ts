/**
 * The schemas that the keys of the configuration are declared with: a type, a description and, for
 * some keys, a default.
 */
import * as Schema from "effect/Schema"

/**
 * A count, a size or a time: a non-negative integer. Every number of the configuration is one,
 * except `Seconds`.
 */
export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Longest time of a key that a timer of the machine is set to: 24 hours. Such a timer ends at once where it exceeds 24 days. */
const maxTimerMs = 86_400_000

/** A time in milliseconds that a timer of the machine is set to, of at least `minimum`. */
export const timerMs = (minimum: number) =>
  Schema.Int.check(
    Schema.isBetween(
      { minimum, maximum: maxTimerMs },
      { expected: `an integer from ${minimum} to ${maxTimerMs} (24 hours)` },
    ),
  )

/** A time in seconds, which need not be a whole number. */
export const Seconds = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * The name of something, such as a model. Empty names are refused, because a script with an unset
 * variable produces them.
 */
export const Name = Schema.String.check(
  Schema.isPattern(/\S/, { expected: "a name that is not empty" }),
)

/** A text that is valid where `isValid` says so; `expected` is for the error. */
export const textThat = (isValid: (text: string) => boolean, expected: string) =>
  Schema.String.check(
    Schema.makeFilter((text) => isValid(text), {
      expected,
      // Without a JSON Schema of the check, that of the key would lack the description, too.
      toJsonSchema: () => [{}, true],
    }),
  )

/** A list of texts. */
export const Strings = Schema.Array(Schema.String)

/** A table of texts, by name. */
export const StringTable = Schema.Record(Schema.String, Schema.String)

/** A key that may be absent and has no default. */
export const key = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

/** A key that may be absent, which then means `value`. */
export const keyOr = <A, E>(schema: Schema.Codec<A, E>, value: A, description: string) =>
  Schema.optionalKey(schema.annotate({ description, default: value }))
