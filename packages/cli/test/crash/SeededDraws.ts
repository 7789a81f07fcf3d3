/** Seeded random draws: the same seed yields the same draws in the same order. */

export interface SeededDraws {
  /** Integer from 0 up to, but not including, `end`. */
  readonly below: (end: number) => number
  readonly chance: (share: number) => boolean
  readonly pick: <const A>(from: readonly [A, ...ReadonlyArray<A>]) => A
}

/** @param seed any integer */
export const make = (seed: number): SeededDraws => {
  let state = seed | 0
  // A small generator (mulberry32) is enough: the draws only need to be roughly uniform.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    below,
    chance: (share) => next() < share,
    pick: (from) => from[below(from.length)] ?? from[0],
  }
}
