/**
 * Named values in the order in which they were added. Each has a number that is never used again, so that a page of a
 * list can end at it although values are added and removed between pages. Holds no effect and notifies no listener.
 */

/** A value with its number, which rises in the order of the registry. */
export interface Numbered<A> {
  readonly number: number
  readonly value: A
}

/** A registry that can be read. */
export interface Registry<A> {
  /** Undefined when there is no value of that name. */
  get(name: string): A | undefined
  /** All values in the order of their numbers. */
  entries(): Iterable<readonly [name: string, of: Numbered<A>]>
  /** Number of changes so far: what was derived from the values is valid as long as it stays the same. */
  readonly changes: number
}

/** A registry that can be changed. */
export interface MutableRegistry<A> extends Registry<A> {
  readonly size: number
  /** Adds a value. The name must not be in use. */
  add(name: string, value: A): void
  /** Removes the value of that name; false when there was none. */
  remove(name: string): boolean
}

class MapRegistry<A> implements MutableRegistry<A> {
  private readonly kept = new Map<string, Numbered<A>>()
  private numbers = 0
  private removals = 0

  get changes() {
    return this.numbers + this.removals
  }

  get size() {
    return this.kept.size
  }

  get(name: string) {
    return this.kept.get(name)?.value
  }

  entries() {
    return this.kept
  }

  add(name: string, value: A) {
    this.kept.set(name, { value, number: this.numbers++ })
  }

  remove(name: string) {
    const isRemoved = this.kept.delete(name)
    if (isRemoved) this.removals++
    return isRemoved
  }
}

/** An empty registry. */
export const makeRegistry = <A>(): MutableRegistry<A> => new MapRegistry()

/** Added to the numbers once per earlier registry, so that those of later registries are higher. */
const stride = 2 ** 40

/**
 * Several registries, one after the other; the first one counts for a name that is in several. Only the last one may be
 * a merged registry itself, because numbers of others would overlap.
 */
export const merged = <A>(registries: ReadonlyArray<Registry<A>>): Registry<A> => ({
  // Every count only rises, so the sum is another one after any change.
  get changes() {
    return registries.reduce((sum, one) => sum + one.changes, 0)
  },
  get: (name) => {
    for (const one of registries) {
      const found = one.get(name)
      if (found !== undefined) return found
    }
    return undefined
  },
  *entries() {
    for (const [i, one] of registries.entries()) {
      for (const [name, { number, value }] of one.entries()) {
        const earlier =
          i > 0 && registries.slice(0, i).some((before) => before.get(name) !== undefined)
        if (!earlier) yield [name, { value, number: i * stride + number }]
      }
    }
  },
})

/** The values of a registry whose names match. @param matches always gives the same answer for a name */
export const filtered = <A>(of: Registry<A>, matches: (name: string) => boolean): Registry<A> => ({
  get changes() {
    return of.changes
  },
  get: (name) => (matches(name) ? of.get(name) : undefined),
  *entries() {
    for (const entry of of.entries()) if (matches(entry[0])) yield entry
  },
})

/** The values with at least that number, in order. */
export function* entriesFrom<A>(of: Registry<A>, number: number): Generator<Numbered<A>> {
  for (const [, one] of of.entries()) if (one.number >= number) yield one
}

/** All names, in order. */
export const namesOf = <A>(of: Registry<A>): ReadonlyArray<string> =>
  Array.from(of.entries(), ([name]) => name)
