/** Named things in the order in which they came, each with a number that no later one gets: where a page can end. */

export interface Shelf<A> {
  readonly size: number
  readonly get: (name: string) => A | undefined
  /** The name must be free. */
  readonly put: (name: string, value: A) => void
  /** False when there was none. */
  readonly take: (name: string) => boolean
  readonly names: () => ReadonlyArray<string>
  readonly values: () => ReadonlyArray<A>
  /** At most `limit` with numbers of at least `from`, and the number of the first that did not fit. */
  readonly page: (
    from: number,
    limit: number,
  ) => { readonly items: ReadonlyArray<A>; readonly next?: number }
}

export const shelf = <A>(): Shelf<A> => {
  const kept = new Map<string, { readonly value: A; readonly number: number }>()
  let numbers = 0
  return {
    get size() {
      return kept.size
    },
    get: (name) => kept.get(name)?.value,
    put: (name, value) => {
      kept.set(name, { value, number: numbers++ })
    },
    take: (name) => kept.delete(name),
    names: () => [...kept.keys()],
    values: () => [...kept.values()].map(({ value }) => value),
    page: (from, limit) => {
      const items: Array<A> = []
      for (const { number, value } of kept.values()) {
        if (number < from) continue
        if (items.length === limit) return { items, next: number }
        items.push(value)
      }
      return { items }
    },
  }
}
