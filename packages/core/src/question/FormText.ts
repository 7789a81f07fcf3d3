/**
 * The form of a tool server as a person gets it. Text for reading (titles, descriptions, names of choices, and every
 * unknown keyword) is quoted; text that the answer repeats exactly (names of members, values of choices, formats,
 * patterns) is unchanged. A value with hidden characters gets a quoted name. A default with hidden characters is removed,
 * so that it is not submitted unread. A name of a member with hidden characters makes the whole form unusable. Pure. Keeps
 * its part of L7.
 */
import { isVisible, quoted } from "./VisibleText.ts"

type Schema = Readonly<Record<string, unknown>>

/** Most levels of a schema. Forms of the MCP specification have two. */
const maxDepth = 16

/** Most rows of a description. Titles and names of choices have two. */
const maxDescriptionRows = 8

/** Keywords whose strings are for a validator, not for a person. */
const machine: ReadonlySet<string> = new Set(["type", "format", "pattern", "required", "$schema"])

const isRecord = (u: unknown): u is Schema =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const isLegible = (value: unknown): boolean => {
  if (typeof value === "string") return isVisible(value)
  if (Array.isArray(value)) return value.every(isLegible)
  return typeof value !== "object" || value === null
}

/** Names for the choices, if a choice has hidden characters. */
const namesOf = (schema: Schema): ReadonlyArray<readonly [string, unknown]> => {
  const { const: only, enum: choices, enumNames, title } = schema
  const isNamed = Array.isArray(choices) && Array.isArray(enumNames)
  return [
    ...(Array.isArray(choices) && !isNamed && !isLegible(choices)
      ? [["enumNames", choices.map(shownValue)] as const]
      : []),
    ...("const" in schema && title === undefined && !isLegible(only)
      ? [["title", shownValue(only)] as const]
      : []),
  ]
}

const shownValue = (value: unknown): string =>
  quoted(typeof value === "string" ? value : (JSON.stringify(value) ?? "null"))

/** The value with its texts quoted, at any depth. */
const shown = (value: unknown, depth: number): unknown => {
  if (typeof value === "string") return quoted(value)
  if (Array.isArray(value)) {
    return depth === 0 ? [] : value.map((part: unknown) => shown(part, depth - 1))
  }
  return isRecord(value) ? shownSchema(value, depth) : value
}

const members = (value: unknown, depth: number): unknown =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, part]) => [name, shown(part, depth - 1)]),
      )
    : {}

const entry = (
  key: string,
  value: unknown,
  depth: number,
): ReadonlyArray<readonly [string, unknown]> => {
  if (machine.has(key)) return isLegible(value) ? [[key, value]] : []
  switch (key) {
    case "enum":
    case "const":
      return [[key, value]]
    case "default":
      return isLegible(value) ? [[key, value]] : []
    case "properties":
      return [[key, members(value, depth)]]
    case "description":
      return typeof value === "string" ? [[key, quoted(value, maxDescriptionRows)]] : []
    default:
      return isVisible(key) ? [[key, shown(value, depth - 1)]] : []
  }
}

const shownSchema = (schema: Schema, depth: number): Schema =>
  depth <= 0
    ? {}
    : Object.fromEntries([
        ...Object.entries(schema).flatMap(([key, value]) => entry(key, value, depth)),
        ...namesOf(schema),
      ])

/** The schema of the form as a person gets it. */
export const formText = (schema: Schema): Schema => shownSchema(schema, maxDepth)

/** False for a form with a member whose name has hidden characters: the answer would have to repeat that name. */
export const canBeShown = (schema: Schema, depth = maxDepth): boolean => {
  if (depth <= 0) return true
  const { properties } = schema
  if (isRecord(properties) && !Object.keys(properties).every(isVisible)) return false
  return Object.entries(schema).every(([, value]) => canPartBeShown(value, depth - 1))
}

const canPartBeShown = (value: unknown, depth: number): boolean => {
  if (depth <= 0) return true
  if (Array.isArray(value)) return value.every((part) => canPartBeShown(part, depth - 1))
  return !isRecord(value) || canBeShown(value, depth)
}
