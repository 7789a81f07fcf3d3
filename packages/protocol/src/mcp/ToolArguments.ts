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
import { nearest } from "../Nearest.ts"
import type { ToolDefinition } from "./CodexTools.ts"

interface Property {
  readonly type?: string
  readonly enum?: ReadonlyArray<string>
}

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

const expectations: Readonly<Record<string, string>> = {
  string: "a string",
  boolean: "a boolean",
  object: "a map",
  array: "a sequence",
  integer: "an integer",
  number: "a number",
}

const actual = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "sequence"
  switch (typeof value) {
    case "string":
      return `string ${JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)}`
    case "boolean":
      return `boolean \`${value}\``
    case "number":
      return `${Number.isInteger(value) ? "integer" : "floating point"} \`${value}\``
    default:
      return "map"
  }
}

const list = (names: ReadonlyArray<string>) => names.map((name) => `\`${name}\``).join(", ")

const suggestion = (name: string, known: ReadonlyArray<string>) => {
  const near = nearest(name, known)
  return near === undefined ? "" : `, did you mean \`${near}\`?`
}

const explain = (
  key: string,
  value: unknown,
  present: boolean,
  properties: Readonly<Record<string, Property>>,
): string => {
  const known = Object.keys(properties)
  // Every object answers to `toString`; only own members are arguments.
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined
  if (property === undefined) {
    return `unknown field \`${key}\`${suggestion(key, known) || `, expected one of ${list(known)}`}`
  }
  const expected = expectations[property.type ?? ""] ?? "another type"
  if (!present) return `missing field \`${key}\` (expected ${expected})`
  if (property.enum !== undefined && typeof value === "string") {
    return `unknown variant \`${value}\`, expected one of ${list(property.enum)}${suggestion(value, property.enum)} (field \`${key}\`)`
  }
  return `invalid type: ${actual(value)}, expected ${expected} (field \`${key}\`)`
}

/** The decoded arguments, or one line with every fault, joined by `; `. */
export const decodeArguments = <A extends Pure>(
  tool: Pick<ToolDefinition<A>, "name" | "arguments" | "inputSchema">,
  args: unknown,
): Result.Result<A["Type"], string> => {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return Result.fail(
      `invalid type: ${actual(args)}, expected a map of arguments for \`${tool.name}\``,
    )
  }
  const decoded = Schema.decodeUnknownResult(tool.arguments)(args, {
    errors: "all",
    onExcessProperty: "error",
  })
  return Result.mapError(decoded, (error) => {
    const properties = tool.inputSchema["properties"] as Readonly<Record<string, Property>>
    const given = args as Readonly<Record<string, unknown>>
    const faults = formatIssues(error.issue).issues.map((issue) => {
      const [segment] = issue.path ?? []
      const key = typeof segment === "string" ? segment : ""
      return explain(key, given[key], Object.hasOwn(given, key), properties)
    })
    return [...new Set(faults)].join("; ")
  })
}
