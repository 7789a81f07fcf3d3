/**
 * Finds the lines of a chunk in a file: four passes, each over all positions, from the strictest comparison to the
 * loosest; the first match wins, as in the original. Pure.
 *
 * A pass visits the positions of the rarest line of the pattern instead of every line of the file, so that thousands of
 * chunks take linear time even where the stricter passes find nothing.
 */
import { trim, trimEnd } from "./Whitespace.ts"

const foldTo = (sign: string, from: string): ReadonlyArray<readonly [string, string]> =>
  from.split("").map((c) => [c, sign] as const)

const folded: ReadonlyMap<string, string> = new Map([
  ...foldTo("-", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"),
  ...foldTo("'", "\u2018\u2019\u201a\u201b"),
  ...foldTo('"', "\u201c\u201d\u201e\u201f"),
  ...foldTo(" ", "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"),
])

const fold = (line: string): string =>
  trim(line).replace(
    /[\u00a0\u2002-\u200a\u2010-\u2015\u2018-\u201f\u202f\u205f\u2212\u3000]/g,
    (c) => folded.get(c) ?? c,
  )

/** How a line is normalized before it is compared, pass by pass. */
const passes: ReadonlyArray<(line: string) => string> = [
  (line) => line,
  (line) => trimEnd(line),
  (line) => trim(line),
  fold,
]

/** The lines of a file as one pass compares them: a number for each distinct line, and its positions. */
interface Index {
  readonly numbers: ReadonlyMap<string, number>
  readonly ids: Int32Array
  readonly places: ReadonlyArray<ReadonlyArray<number>>
}

const indexOf = (lines: ReadonlyArray<string>, seen: (line: string) => string): Index => {
  const numbers = new Map<string, number>()
  const ids = new Int32Array(lines.length)
  const places: Array<Array<number>> = []
  for (const [at, line] of lines.entries()) {
    const key = seen(line)
    const known = numbers.get(key)
    const id = known ?? numbers.size
    if (known === undefined) numbers.set(key, id)
    ids[at] = id
    const positions = places[id]
    if (positions === undefined) places[id] = [at]
    else positions.push(at)
  }
  return { numbers, ids, places }
}

/** Index of the first element that is at least `from`. */
const lowerBound = (sorted: ReadonlyArray<number>, from: number): number => {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) < from) low = middle + 1
    else high = middle
  }
  return low
}

/** Number of line comparisons that are still allowed. */
interface Budget {
  left: number
}

/** Comparisons per file, about half a second. Only files that repeat the same lines over long stretches come near. */
const maxComparisons = 100_000_000

const matchesAt = (ids: Int32Array, pattern: Int32Array, at: number, budget: Budget): boolean => {
  const end = Math.min(pattern.length, budget.left)
  let i = 0
  while (i < end && ids[at + i] === pattern[i]) i++
  budget.left -= Math.min(i + 1, budget.left)
  return i === pattern.length
}

const find = (
  index: Index,
  pattern: ReadonlyArray<string>,
  start: number,
  seen: (line: string) => string,
  budget: Budget,
): number | undefined => {
  const ids = new Int32Array(pattern.length)
  let rarest: ReadonlyArray<number> | undefined
  let offset = 0
  for (const [i, line] of pattern.entries()) {
    const id = index.numbers.get(seen(line))
    if (id === undefined) return undefined
    ids[i] = id
    const places = index.places[id] ?? []
    if (rarest === undefined || places.length < rarest.length) {
      rarest = places
      offset = i
    }
  }
  const places = rarest ?? []
  for (let i = lowerBound(places, start + offset); i < places.length && budget.left > 0; i++) {
    const at = (places[i] ?? 0) - offset
    if (at + ids.length > index.ids.length) return undefined
    if (matchesAt(index.ids, ids, at, budget)) return at
  }
  return undefined
}

/** Finds patterns in one file. */
export interface LineSearch {
  /**
   * Index of the first line of `pattern`, at `start` or later. With `isEndOfFile` only the last possible position
   * counts, whatever `start` is. An empty pattern is found at `start`.
   */
  readonly find: (
    pattern: ReadonlyArray<string>,
    start: number,
    isEndOfFile: boolean,
  ) => number | undefined
  /** True once a search was given up because of its time: from then on nothing is found in this file. */
  readonly isExhausted: () => boolean
}

/** A search in the lines of one file. */
export const make = (lines: ReadonlyArray<string>): LineSearch => {
  const indexes: Array<Index> = []
  const budget: Budget = { left: maxComparisons }
  return {
    isExhausted: () => budget.left === 0,
    find: (pattern, start, isEndOfFile) => {
      if (pattern.length === 0) return start
      if (pattern.length > lines.length) return undefined
      const from = isEndOfFile ? lines.length - pattern.length : start
      for (const [pass, seen] of passes.entries()) {
        const index = (indexes[pass] ??= indexOf(lines, seen))
        const at = find(index, pattern, from, seen, budget)
        if (at !== undefined) return at
      }
      return undefined
    },
  }
}
