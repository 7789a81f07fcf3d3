/** One text for equal JSON values, whatever the order of their members. Pure. */

/** Depth is bounded by who parsed it. A large integer that was kept as it came is an object with its digits: no harm. */
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
