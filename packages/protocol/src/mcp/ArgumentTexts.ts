/**
 * Parts of the texts about faults of arguments. They follow the original's texts where it has them (`missing field`,
 * `invalid type`, `unknown variant`), because clients and models may depend on them. Pure.
 */
import { nearest } from "../Nearest.ts"
import { shortened } from "../text/Shortened.ts"

/** The types of JSON Schema, as the texts name them. */
export const expectations: Readonly<Record<string, string>> = {
  string: "a string",
  boolean: "a boolean",
  object: "a map",
  array: "a sequence",
  integer: "an integer",
  number: "a number",
  null: "null",
}

/** UTF-16 code units of a client's text that an error repeats. */
const maxNameLength = 256

/** A client's text, shortened when it is long. */
export const inPart = (text: string): string => shortened(text, maxNameLength)

/** A value as a text: its type, and for a simple value the value itself, shortened when it is long. */
export const actual = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "sequence"
  switch (typeof value) {
    case "string":
      return `string ${JSON.stringify(shortened(value, 80))}`
    case "boolean":
      return `boolean \`${value}\``
    case "number":
      return `${Number.isInteger(value) ? "integer" : "floating point"} \`${value}\``
    default:
      return "map"
  }
}

/** Names in backticks, separated by commas. */
export const list = (names: ReadonlyArray<string>) => names.map((name) => `\`${name}\``).join(", ")

/** The end of a text that names the nearest known name; empty when no name is near. */
export const suggestion = (name: string, known: ReadonlyArray<string>) => {
  const near = nearest(name, known)
  return near === undefined ? "" : `, did you mean \`${near}\`?`
}
