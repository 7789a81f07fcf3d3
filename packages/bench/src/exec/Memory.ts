/** How much the process grew and how long its event loop was blocked while something ran. */
import * as Effect from "effect/Effect"
import { monitorEventLoopDelay } from "node:perf_hooks"

/** The load on the process. */
export interface Strain {
  /** Growth of the highest resident memory in bytes, so that a peak between two samples counts. */
  readonly grownBytes: number
  readonly maxGapMs: number
}

const peakBytes = (): number => process.resourceUsage().maxRSS * 1024

/** Runs an effect and measures its load. */
export const strain = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<readonly [A, Strain], E, R> =>
  Effect.suspend(() => {
    globalThis.gc?.()
    const delay = monitorEventLoopDelay({ resolution: 5 })
    const before = peakBytes()
    delay.enable()
    return Effect.map(effect, (result) => {
      delay.disable()
      const found: Strain = { grownBytes: peakBytes() - before, maxGapMs: delay.max / 1e6 }
      return [result, found] as const
    })
  })
