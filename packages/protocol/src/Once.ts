/** Values that are computed at their first use and kept. Pure but for that. */

/** A function that calls `make` at its first call and returns the same value every time. `make` must be pure. */
export const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}
