/**
 * The form of a tool server as it is put to a person. What is for reading (titles, descriptions, names of choices, and
 * every keyword that is not known here) is quoted; what the answer has to repeat exactly (names of members, values of
 * choices, formats, patterns) stays as it is. A value that cannot be seen gets a quoted name; a default that cannot be
 * seen is removed, so that nobody submits it unread; a name of a member that cannot be seen makes the whole form
 * unusable. Pure. Keeps its part of L7.
 */
import { isVisible, quoted } from "./VisibleText.ts"

type Schema = Readonly<Record<string, unknown>>

/** Forms of the specification are two levels deep. */
const maxDepth = 16

/** Rows of a description; titles and names of choices have two. */
const maxDescriptionRows = 8

/** Keywords whose strings a validator reads and not a person. */
const machine: ReadonlySet<string> = new Set(["type", "format", "pattern", "required", "$schema"])

const isRecord = (u: unknown): u is Schema =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const isLegible = (value: unknown): boolean => {
  if (typeof value === "string") return isVisible(value)
  if (Array.isArray(value)) return value.every(isLegible)
  return typeof value !== "object" || value === null
}

/** A name for each choice, where one cannot be seen as it is. */
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

/** For reading, at any depth. */
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

/** The form as it is put to a person. */
export const formText = (schema: Schema): Schema => shownSchema(schema, maxDepth)

/** False for a form with a member whose name cannot be seen: its answer would have to repeat that name. */
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
