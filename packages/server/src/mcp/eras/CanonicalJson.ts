/** Writes equal JSON values as equal texts, independent of the order of their members. Pure. */

/**
 * Sorts the members of every object by name. The recursion depth is bounded by the JSON parser. A large integer that
 * the parser preserved is an object with its digits, and is sorted like any other object without harm.
 */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, inner]) => [key, sorted(inner)]),
  )
}

/** JSON with the members of every object in the order of their names, so that equal values have equal texts. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value))
