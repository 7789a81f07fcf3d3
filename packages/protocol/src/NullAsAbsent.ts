/**
 * `null` means absent for every optional member, in every dialect: clients in languages that serialize every member of a
 * record send `"title": null`, and the original accepts it (its optional members are `Option`s of serde). A required member,
 * and one for which `null` is a valid value, are kept. An unknown member is absent when it is null, and so is an entry of a
 * record whose values cannot be null. Values without a schema are read by `memberOf`.
 *
 * Pure. It costs nothing for a value that decodes as it is: nulls are removed only from a value that did not decode.
 */
import type * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

type Members = Readonly<Record<string, unknown>>

const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** The members of a peer's object that are not null. */
export const presentMembers = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, member]) => member !== null))

/** A member of a peer's value; undefined when it is absent or null, and when the value is no object. */
export const memberOf = (value: unknown, name: string): unknown =>
  isMembers(value) && Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined

const decodes = (ast: SchemaAST.AST, value: unknown): boolean =>
  Result.isSuccess(Schema.decodeUnknownResult(Schema.make<Schema.Codec<unknown>>(ast))(value))

/** True when a value of this type may be null. */
const takesNull = (ast: SchemaAST.AST): boolean => decodes(ast, null)

/** True when every member of `value` for which this type has a literal is that literal: its tag, if it has one. */
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
    const named = known.get(name)
    const type = named ?? index
    const isRequired = named !== undefined && !SchemaAST.isOptional(named)
    if (member === null && !isRequired && (type === undefined || !takesNull(type))) {
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

/** The value itself, or a copy without the optional members that are null. `ast` is the encoded side of its schema. */
const withoutNulls = (ast: SchemaAST.AST, value: unknown): unknown => {
  switch (ast._tag) {
    case "Objects":
      return isMembers(value) ? inMembers(ast, value) : value
    case "Arrays":
      return Array.isArray(value) ? inItems(ast, value) : value
    case "Suspend":
      return withoutNulls(ast.thunk(), value)
    case "Union": {
      let first: unknown = value
      for (const type of ast.types) {
        if (isMembers(value) && !isTagged(type, value)) continue
        const inner = withoutNulls(type, value)
        if (inner !== value && decodes(type, inner)) return inner
        if (first === value) first = inner
      }
      return first
    }
    default:
      return value
  }
}

/** The value without the optional members that are null, except those for which the schema allows `null`. */
export const nullsAbsent = (schema: Schema.Top, value: unknown): unknown =>
  withoutNulls(SchemaAST.toEncoded(schema.ast), value)

type Decoder<A> = (u: unknown) => Result.Result<A, Schema.SchemaError>

/** A decoder that reads null as absent when `decode`, a decoder of `schema`, rejects a value as it is. */
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

/** True when a JSON Schema may allow null; a schema that only refers to another one counts as allowing it. */
const schemaTakesNull = (schema: unknown): boolean => {
  if (!isMembers(schema)) return schema !== false
  const { const: only, enum: choices, type } = schema
  if (type !== undefined && ![type].flat().includes("null")) return false
  if (Array.isArray(choices) && !choices.includes(null)) return false
  if (Object.hasOwn(schema, "const") && only !== null) return false
  const union = schema["anyOf"] ?? schema["oneOf"]
  return !Array.isArray(union) || union.some(schemaTakesNull)
}

/** As `nullsAbsent`, for a JSON Schema. Follows `properties` and `items` only. */
export const nullsAbsentIn = (schema: unknown, value: unknown): unknown => {
  if (!isMembers(schema)) return value
  if (Array.isArray(value)) return value.map((item) => nullsAbsentIn(schema["items"], item))
  if (!isMembers(value)) return value
  const properties = isMembers(schema["properties"]) ? schema["properties"] : {}
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  const isKept = (name: string, member: unknown) =>
    member !== null ||
    required.includes(name) ||
    (Object.hasOwn(properties, name)
      ? schemaTakesNull(properties[name])
      : schemaTakesNull(schema["additionalProperties"]))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => isKept(name, member))
      .map(([name, member]) => [name, nullsAbsentIn(memberOf(properties, name), member)]),
  )
}
