/** How a key of the configuration is written down: its type, what it is for and, where it has one, its default. */
import * as Schema from "effect/Schema"

/** Every number of the configuration is a count, a size or a time. */
export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const Seconds = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** The name of something, such as a model. An unset variable of a script makes an empty one. */
export const Name = Schema.String.check(
  Schema.isPattern(/\S/, { expected: "a name that is not empty" }),
)

export const Strings = Schema.Array(Schema.String)

export const StringTable = Schema.Record(Schema.String, Schema.String)

/** A key that may be absent. */
export const key = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

/** A key that may be absent and then counts as `value`. */
export const keyOr = <A, E>(schema: Schema.Codec<A, E>, value: A, description: string) =>
  Schema.optionalKey(schema.annotate({ description, default: value }))
