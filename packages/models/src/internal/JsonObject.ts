/** JSON objects among values from outside. */
export type JsonObject = Readonly<Record<string, unknown>>

/** True for an object that is not an array. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
