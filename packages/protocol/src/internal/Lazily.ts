/** Makes a value with its first use and gives the same one afterwards. `make` must be pure. */
export const lazily = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}
