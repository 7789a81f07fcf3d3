/**
 * The words for faults of arguments, the original's where it has them (`missing field`, `invalid type`,
 * `unknown variant`).
 */
import { nearest } from "../Nearest.ts"

export const expectations: Readonly<Record<string, string>> = {
  string: "a string",
  boolean: "a boolean",
  object: "a map",
  array: "a sequence",
  integer: "an integer",
  number: "a number",
  null: "null",
}

/** In UTF-16 units. */
const maxNameLength = 256

/** What a client wrote, cut where it is long: an error is no echo. */
export const inPart = (text: string): string =>
  text.length > maxNameLength ? `${text.slice(0, maxNameLength)}…` : text

/** What a value is, cut where it is long. */
export const actual = (value: unknown): string => {
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

export const list = (names: ReadonlyArray<string>) => names.map((name) => `\`${name}\``).join(", ")

export const suggestion = (name: string, known: ReadonlyArray<string>) => {
  const near = nearest(name, known)
  return near === undefined ? "" : `, did you mean \`${near}\`?`
}
