/** Named things in the order in which they came, each with a number that no later one gets: where a page can end. */

export interface Numbered<A> {
  readonly number: number
  readonly value: A
}

export interface Registry<A> {
  readonly get: (name: string) => A | undefined
  /** In their order. */
  readonly entries: () => Iterable<readonly [name: string, of: Numbered<A>]>
}

export interface MutableRegistry<A> extends Registry<A> {
  readonly size: number
  /** The name must be free. */
  readonly put: (name: string, value: A) => void
  /** False when there was none. */
  readonly take: (name: string) => boolean
}

export const makeRegistry = <A>(): MutableRegistry<A> => {
  const kept = new Map<string, Numbered<A>>()
  let numbers = 0
  return {
    get size() {
      return kept.size
    },
    get: (name) => kept.get(name)?.value,
    entries: () => kept,
    put: (name, value) => {
      kept.set(name, { value, number: numbers++ })
    },
    take: (name) => kept.delete(name),
  }
}

/** Numbers of later shelves lie above all of earlier ones. */
const stride = 2 ** 40

/** One after the other; of a name that several have, the first counts. Only the last may be merged itself. */
export const merged = <A>(shelves: ReadonlyArray<Registry<A>>): Registry<A> => ({
  get: (name) => {
    for (const one of shelves) {
      const found = one.get(name)
      if (found !== undefined) return found
    }
    return undefined
  },
  *entries() {
    for (const [i, one] of shelves.entries()) {
      for (const [name, { number, value }] of one.entries()) {
        const earlier = shelves.slice(0, i).some((before) => before.get(name) !== undefined)
        if (!earlier) yield [name, { value, number: i * stride + number }]
      }
    }
  },
})

/** Those whose names fit. */
export const only = <A>(of: Registry<A>, fits: (name: string) => boolean): Registry<A> => ({
  get: (name) => (fits(name) ? of.get(name) : undefined),
  *entries() {
    for (const entry of of.entries()) if (fits(entry[0])) yield entry
  },
})

/** Those of at least that number, in their order. */
export function* from<A>(of: Registry<A>, number: number): Generator<Numbered<A>> {
  for (const [, one] of of.entries()) if (one.number >= number) yield one
}

export const namesOf = <A>(of: Registry<A>): ReadonlyArray<string> =>
  Array.from(of.entries(), ([name]) => name)
