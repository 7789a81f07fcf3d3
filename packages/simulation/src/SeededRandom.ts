/** A stream of random numbers from a seed (mulberry32): the only source of randomness in a simulation (L12). Pure except for its state. */
export class SeededRandom {
  private seed: number

  constructor(seed: number) {
    this.seed = seed
  }

  /** The next number in [0, 1). */
  next(): number {
    this.seed = (this.seed + 0x6d2b79f5) | 0
    let t = Math.imul(this.seed ^ (this.seed >>> 15), 1 | this.seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  /** An integer in [0, `end`). */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** One of the values; a repeated value is drawn more often. */
  pick<A>(first: A, ...rest: ReadonlyArray<A>): A {
    return rest[this.below(rest.length + 1) - 1] ?? first
  }
}
