/** Readings of values of unknown type, as schemas and checked values are. Each is total: a wrong type gives the empty one. */

/** A JSON Schema that is an object. Its keywords are read when they are used, whatever their values are. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** True for an object that is no array. */
export const isObject = (u: unknown): u is Record<string, unknown> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** The strings of an array. */
export const stringsOf = (u: unknown): ReadonlyArray<string> =>
  Array.isArray(u) ? u.filter((one) => typeof one === "string") : []

/** The elements of an array. */
export const elementsOf = (u: unknown): ReadonlyArray<unknown> => (Array.isArray(u) ? u : [])

/** The members of an object. */
export const entriesOf = (u: unknown): ReadonlyArray<readonly [string, unknown]> =>
  isObject(u) ? Object.entries(u) : []

/** A number, or undefined. */
export const numberOf = (u: unknown): number | undefined => (typeof u === "number" ? u : undefined)

/** The types that the keyword `type` allows; none when the schema does not have it. */
export const typesOf = ({ type }: JsonSchema): ReadonlyArray<string> =>
  typeof type === "string" ? [type] : stringsOf(type)

/** True when a value has a type of JSON Schema. */
export const isOfType = (type: string, value: unknown): boolean => {
  switch (type) {
    case "null":
      return value === null
    case "array":
      return Array.isArray(value)
    case "object":
      return isObject(value)
    case "integer":
      return Number.isInteger(value)
    case "number":
      return typeof value === "number"
    default:
      return typeof value === type
  }
}

/** A text that is the same for equal values: the members of objects in order of their names. */
export const canonical = (u: unknown): string =>
  JSON.stringify(u, (_, value: unknown) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  ) ?? ""
