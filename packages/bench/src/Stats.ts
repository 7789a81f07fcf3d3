/** Statistics of a list of samples, in the unit of the caller. Pure. */

export interface Summary {
  readonly count: number
  readonly min: number
  readonly median: number
  /** Value that 99 of 100 samples do not exceed. */
  readonly p99: number
}

/** The smallest sample that at least `share` of all do not exceed; `sorted` ascends and is not empty. */
export const quantile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN

/** Computes the statistics; those of an empty list are `NaN`. */
export const summarize = (samples: ReadonlyArray<number>): Summary => {
  const sorted = samples.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return {
    count: sorted.length,
    min: sorted[0] ?? Number.NaN,
    median: sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2,
    p99: quantile(sorted, 0.99),
  }
}
