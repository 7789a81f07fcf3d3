/**
 * Decodes the arguments of a tool call strictly and tells every fault so that a person or a model can mend it:
 * the field, what was expected, the nearest known name. Strict because a misspelt `approval-policy` that is
 * ignored runs with the wrong policy, as the original did (recording 0.29 `bad_args`, id 13).
 *
 * The wording follows the original's where it has one (`missing field`, `invalid type`, `unknown variant`).
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type { Pure } from "../Method.ts"
import { tolerant } from "../NullAsAbsent.ts"
import { actual, expectations, inPart, list, suggestion } from "./ArgumentTexts.ts"
import type { ToolDefinition } from "./CodexTools.ts"

interface Property {
  readonly type?: string
  readonly enum?: ReadonlyArray<string>
  /** Of an object. */
  readonly properties?: Readonly<Record<string, Property>>
  /** Of an array. */
  readonly items?: Property
  /** Of a union of objects, told apart by their member `type`. */
  readonly anyOf?: ReadonlyArray<Property>
  /** Of a number. */
  readonly minimum?: number
  readonly maximum?: number
}

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

const tagsOf = ({ properties }: Property): ReadonlyArray<string> => properties?.["type"]?.enum ?? []

/** The member of a union that the value says it is. */
const memberOf = (schema: Property | undefined, value: unknown): Property | undefined => {
  if (schema?.anyOf === undefined || typeof value !== "object" || value === null) return schema
  const tag: unknown = Reflect.get(value, "type")
  return schema.anyOf.find((one) => tagsOf(one).some((known) => known === tag)) ?? schema
}

/** How large a number may be, where its type was right. */
const bounds = ({ maximum, minimum }: Property, value: unknown): string =>
  typeof value === "number" && minimum !== undefined && maximum !== undefined
    ? ` from ${minimum} to ${maximum}`
    : ""

const explain = (
  key: string,
  value: unknown,
  present: boolean,
  properties: Readonly<Record<string, Property>>,
  /** Where the fault lies, as people write it. */
  at: string,
): string => {
  const known = Object.keys(properties)
  // Every object answers to `toString`; only own members are arguments.
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined
  if (property === undefined) {
    return `unknown field \`${at}\`${suggestion(key, known) || `, expected one of ${list(known)}`}`
  }
  const expected = expectations[property.type ?? ""] ?? "another type"
  if (!present) return `missing field \`${at}\` (expected ${expected})`
  if (property.enum !== undefined && typeof value === "string") {
    return `unknown variant \`${inPart(value)}\`, expected one of ${list(property.enum)}${suggestion(value, property.enum)} (field \`${at}\`)`
  }
  if (property.anyOf !== undefined && typeof value === "object" && value !== null) {
    const tag: unknown = Reflect.get(value, "type")
    const of: Property = { type: "string", enum: property.anyOf.flatMap(tagsOf) }
    return explain("type", tag, tag !== undefined, { type: of }, `${at}.type`)
  }
  const object = property.anyOf === undefined ? expected : "a map"
  return `invalid type: ${actual(value)}, expected ${object}${bounds(property, value)} (field \`${at}\`)`
}

/** Explains the member that `path` leads to; `names` spells the way that was gone already. */
const explainAt = (
  path: ReadonlyArray<PropertyKey>,
  value: unknown,
  schema: Property,
  names = "",
): string => {
  const [segment, ...rest] = path
  const key = typeof segment === "symbol" ? "" : String(segment ?? "")
  const isItem = Array.isArray(value)
  const at = inPart(isItem ? `${names}[${key}]` : names === "" ? key : `${names}.${key}`)
  const properties = isItem ? { [key]: schema.items ?? {} } : (schema.properties ?? {})
  const present = typeof value === "object" && value !== null && Object.hasOwn(value, key)
  const member: unknown = present ? Reflect.get(value, key) : undefined
  const inner = memberOf(Object.hasOwn(properties, key) ? properties[key] : undefined, member)
  return rest.length === 0 || inner === undefined || !present
    ? explain(key, member, present, properties, at)
    : explainAt(rest, member, inner, at)
}

/** More than a model mends at once. */
const maxFaults = 20

/** The decoded arguments, or one line with every fault, at most 20 of them, joined by `; `. */
export const decodeArguments = <A extends Pure>(
  tool: Pick<ToolDefinition<A>, "name" | "arguments" | "inputSchema">,
  args: unknown,
): Result.Result<A["Type"], string> => {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return Result.fail(
      `invalid type: ${actual(args)}, expected a map of arguments for \`${tool.name}\``,
    )
  }
  const decode = tolerant(
    tool.arguments,
    Schema.decodeUnknownResult(tool.arguments, { errors: "all", onExcessProperty: "error" }),
  )
  const decoded = decode(args)
  return Result.mapError(decoded, (error) => {
    const { issues } = formatIssues(error.issue)
    const faults = issues.slice(0, maxFaults).map(({ path = [] }) =>
      explainAt(
        path.map((segment) => (typeof segment === "object" ? segment.key : segment)),
        args,
        tool.inputSchema,
      ),
    )
    return [...new Set(faults), ...(issues.length > maxFaults ? ["and more"] : [])].join("; ")
  })
}
