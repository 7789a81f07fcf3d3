/** Virtual time: it does not advance while any fiber can run, and then jumps to the next sleeper. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** A clock of Effect that a test drives by `jump`. */
export class SimulatedClock implements Clock.Clock {
  private now: number
  private readonly sleepers: Array<Sleeper> = []

  constructor(startMs = 0) {
    this.now = startMs
  }

  /** Number of fibers that wait for a time to come. */
  get sleeping(): number {
    return this.sleepers.length
  }

  /** The time of the next sleeper; undefined when no fiber sleeps. */
  get nextMs(): number | undefined {
    let next: number | undefined
    for (const { at } of this.sleepers) if (next === undefined || at < next) next = at
    return next
  }

  currentTimeMillisUnsafe(): number {
    return this.now
  }
  readonly currentTimeMillis = Effect.sync(() => this.now)
  currentTimeNanosUnsafe(): bigint {
    return BigInt(this.now) * 1_000_000n
  }
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  monotonicTimeNanosUnsafe(): bigint {
    return this.currentTimeNanosUnsafe()
  }
  readonly monotonicTimeNanos = this.currentTimeNanos

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    // An infinite sleep has no time to jump to.
    if (!Number.isFinite(Duration.toMillis(duration))) return Effect.never
    return Effect.callback((resume) =>
      Effect.sync(this.timer(Duration.toMillis(duration), () => resume(Effect.void))),
    )
  }

  /** Calls `wake` once that time has passed; returns what prevents it. */
  timer(ms: number, wake: () => void): () => void {
    const sleeper: Sleeper = { at: this.now + Math.ceil(ms), wake }
    this.sleepers.push(sleeper)
    return () => {
      const i = this.sleepers.indexOf(sleeper)
      if (i !== -1) this.sleepers.splice(i, 1)
    }
  }

  /** Wakes the next sleeper, the oldest of those due at the same time; returns false when no fiber sleeps. */
  jump(): boolean {
    let next = 0
    for (let i = 1; i < this.sleepers.length; i++) {
      if ((this.sleepers[i]?.at ?? Infinity) < (this.sleepers[next]?.at ?? Infinity)) next = i
    }
    const [sleeper] = this.sleepers.splice(next, 1)
    if (sleeper === undefined) return false
    this.now = sleeper.at
    sleeper.wake()
    return true
  }
}
