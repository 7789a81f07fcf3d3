/**
 * `null` means absent for every optional member, in every dialect: clients whose language writes each member of a record
 * send `"title": null`, and the original accepts it (its optional members are `Option`s of serde). A required member, and
 * one that has a meaning of its own for `null`, are left as they are.
 *
 * Pure. Costs nothing where a value decodes as it is: nulls are looked for only in one that did not.
 */
import type * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

type Members = Readonly<Record<string, unknown>>

const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** Whether a value of this type may be null. */
const takesNull = (ast: SchemaAST.AST): boolean =>
  Result.isSuccess(Schema.decodeUnknownResult(Schema.make<Schema.Codec<unknown>>(ast))(null))

/** Whether the members of `value` that this type fixes to a literal are that literal: its tag, if it has one. */
const isTagged = (ast: SchemaAST.AST, value: Members): boolean =>
  ast._tag !== "Objects" ||
  ast.propertySignatures.every(
    ({ name, type }) => type._tag !== "Literal" || value[String(name)] === type.literal,
  )

const inMembers = (ast: SchemaAST.Objects, value: Members): unknown => {
  const known = new Map(ast.propertySignatures.map(({ name, type }) => [String(name), type]))
  const index = ast.indexSignatures[0]?.type
  let changed = false
  const kept: Array<readonly [string, unknown]> = []
  for (const [name, member] of Object.entries(value)) {
    const type = known.get(name) ?? index
    if (member === null && type !== undefined && SchemaAST.isOptional(type) && !takesNull(type)) {
      changed = true
      continue
    }
    const inner = type === undefined ? member : withoutNulls(type, member)
    changed ||= inner !== member
    kept.push([name, inner])
  }
  return changed ? Object.fromEntries(kept) : value
}

const inItems = (ast: SchemaAST.Arrays, value: ReadonlyArray<unknown>): unknown => {
  const items = value.map((item, index) => {
    const type = ast.elements[index] ?? ast.rest[0]
    return type === undefined ? item : withoutNulls(type, item)
  })
  return items.some((item, index) => item !== value[index]) ? items : value
}

/** `value` itself, or a copy without the optional members that are null. `ast` describes the encoded value. */
const withoutNulls = (ast: SchemaAST.AST, value: unknown): unknown => {
  switch (ast._tag) {
    case "Objects":
      return isMembers(value) ? inMembers(ast, value) : value
    case "Arrays":
      return Array.isArray(value) ? inItems(ast, value) : value
    case "Suspend":
      return withoutNulls(ast.thunk(), value)
    case "Union": {
      for (const type of ast.types) {
        if (isMembers(value) && !isTagged(type, value)) continue
        const inner = withoutNulls(type, value)
        if (inner !== value) return inner
      }
      return value
    }
    default:
      return value
  }
}

/** `value` without the optional members that are null and that `schema` gives no meaning of their own. */
export const nullsAbsent = (schema: Schema.Top, value: unknown): unknown =>
  withoutNulls(SchemaAST.toEncoded(schema.ast), value)

type Decoder<A> = (u: unknown) => Result.Result<A, Schema.SchemaError>

/** The decoder that reads null as absent where `decode`, a decoder of `schema`, refuses a value as it is. */
export const tolerant =
  <A>(schema: Schema.Top, decode: Decoder<A>): Decoder<A> =>
  (u) => {
    const result = decode(u)
    if (Result.isSuccess(result)) return result
    const without = nullsAbsent(schema, u)
    return without === u ? result : decode(without)
  }

/** As `Schema.decodeUnknownOption`, with null read as absent. */
export const decodeOption = <A>(
  schema: Schema.Codec<A, unknown>,
): ((u: unknown) => Option.Option<A>) => {
  const decode = tolerant(schema, Schema.decodeUnknownResult(schema))
  return (u) => Result.getSuccess(decode(u))
}
