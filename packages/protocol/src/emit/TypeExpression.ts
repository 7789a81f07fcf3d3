/**
 * A JSON Schema as a TypeScript type expression. Knows the keywords that the definitions produce. A keyword that only narrows
 * a value (`minimum`, `pattern`) has no type and is ignored. Pure.
 */
import type { JsonSchema } from "../JsonSchema.ts"

const isSchema = (u: unknown): u is JsonSchema =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const schemasIn = (u: unknown): ReadonlyArray<JsonSchema> =>
  Array.isArray(u) ? u.filter(isSchema) : []

const identifier = /^[A-Za-z_$][\w$]*$/

/** A member's name, in quotes if TypeScript requires them. */
const memberName = (name: string): string => (identifier.test(name) ? name : JSON.stringify(name))

/** The name of a definition as the name of a type. */
export const typeName = (name: string): string => name.replaceAll(/[^\w$]/g, "_")

const refPrefix = "#/$defs/"

/** A comment of one line; the end mark of a comment within the text is broken up. */
export const docComment = (text: string, indent: string): string =>
  `${indent}/** ${text.replaceAll(/\s+/g, " ").replaceAll("*/", "* /")} */\n`

const union = (types: ReadonlyArray<string>): string => {
  const distinct = [...new Set(types)]
  if (distinct.length === 0) return "never"
  return distinct.includes("unknown") ? "unknown" : distinct.join(" | ")
}

/** A type in parentheses when it contains `|` or `&`. */
const grouped = (type: string): string => (/ [|&] /.test(type) ? `(${type})` : type)

const member = (name: string, schema: JsonSchema, required: boolean, indent: string): string => {
  const { description } = schema
  return `${typeof description === "string" ? docComment(description, indent) : ""}${indent}readonly ${memberName(
    name,
  )}${required ? "" : "?"}: ${typeExpression(schema, indent)}\n`
}

const objectType = (schema: JsonSchema, indent: string): string => {
  const properties = isSchema(schema["properties"]) ? schema["properties"] : {}
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  const inner = `${indent}  `
  const members = Object.entries(properties).flatMap(([name, one]) =>
    isSchema(one) ? [member(name, one, required.includes(name), inner)] : [],
  )
  const rest = schema["additionalProperties"]
  if (members.length === 0) {
    return isSchema(rest)
      ? `Readonly<Record<string, ${typeExpression(rest, indent)}>>`
      : "Readonly<Record<string, unknown>>"
  }
  // An open object's further members are unknown; members that are named with a type keep it.
  const open = isSchema(rest) ? ` & Readonly<Record<string, unknown>>` : ""
  return `{\n${members.join("")}${indent}}${open}`
}

const arrayType = (schema: JsonSchema, indent: string): string => {
  const head = schemasIn(schema["prefixItems"]).map((one) => typeExpression(one, indent))
  const { items } = schema
  if (head.length > 0) {
    const tail = isSchema(items) ? [`...ReadonlyArray<${typeExpression(items, indent)}>`] : []
    return `readonly [${[...head, ...tail].join(", ")}]`
  }
  return `ReadonlyArray<${isSchema(items) ? typeExpression(items, indent) : "unknown"}>`
}

const ofType = (type: unknown, schema: JsonSchema, indent: string): string => {
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type
    case "number":
    case "integer":
      return "number"
    case "array":
      return arrayType(schema, indent)
    case "object":
      return objectType(schema, indent)
    default:
      return "unknown"
  }
}

/** Prints a schema as a type. `indent` is the indentation of the line on which the expression starts. */
export const typeExpression = (schema: JsonSchema, indent = ""): string => {
  const { $ref: ref, const: constant, enum: members, type } = schema
  if (typeof ref === "string") return typeName(ref.slice(refPrefix.length))
  if (constant !== undefined) return JSON.stringify(constant)
  if (Array.isArray(members)) return union(members.map((one) => JSON.stringify(one)))
  const choices = [...schemasIn(schema["anyOf"]), ...schemasIn(schema["oneOf"])]
  if (choices.length > 0) return union(choices.map((one) => typeExpression(one, indent)))
  // The schema of an object without members: anything but `null`.
  if (schema["not"] !== undefined && type === undefined) return "Readonly<Record<string, unknown>>"
  const own = Array.isArray(type)
    ? union(type.map((one) => ofType(one, schema, indent)))
    : ofType(type, schema, indent)
  const parts = schemasIn(schema["allOf"])
    .map((one) => typeExpression(one, indent))
    .filter((one) => one !== "unknown")
  if (parts.length === 0) return own
  const all = [...new Set([...(own === "unknown" ? [] : [own]), ...parts])]
  return all.length === 1 ? all.join("") : all.map(grouped).join(" & ")
}
