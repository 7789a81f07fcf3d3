/** Runs programs under a seeded scheduler and a clock that jumps: any interleaving, repeatable. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"

const mulberry32 = (start: number) => {
  let seed = start
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Runs ready fibers in an order drawn from a seed, and makes them yield at places drawn from it. */
class SeededScheduler implements Scheduler.Scheduler {
  readonly executionMode = "sync" as const
  private readonly ready: Array<() => void> = []
  private readonly random: () => number
  private left: number

  constructor(seed: number, maxSteps: number) {
    this.random = mulberry32(seed)
    this.left = maxSteps
  }

  shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    return fiber.currentOpCount >= 1 + Math.floor(this.random() * 8)
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
    return {
      scheduleTask: (task) => {
        this.ready.push(task)
      },
      flush: () => this.drain(),
    }
  }

  drain(): void {
    while (this.ready.length > 0) {
      if (--this.left < 0) throw new Error("livelock: the simulation does not come to rest")
      const i = Math.floor(this.random() * this.ready.length)
      const [task] = this.ready.splice(i, 1)
      task?.()
    }
  }
}

/** Time that jumps to the next sleeper when nothing else can run. */
class SimulatedClock implements Clock.Clock {
  private now = 0
  private readonly sleepers: Array<{ readonly at: number; readonly wake: () => void }> = []
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
    return Effect.callback((resume) => {
      const sleeper = {
        at: this.now + Math.ceil(Duration.toMillis(duration)),
        wake: () => resume(Effect.void),
      }
      this.sleepers.push(sleeper)
      return Effect.sync(() => {
        const i = this.sleepers.indexOf(sleeper)
        if (i !== -1) this.sleepers.splice(i, 1)
      })
    })
  }
  /** False when nobody sleeps. */
  jump(): boolean {
    const at = Math.min(...this.sleepers.map((s) => s.at))
    const i = this.sleepers.findIndex((s) => s.at === at)
    const [sleeper] = i === -1 ? [] : this.sleepers.splice(i, 1)
    if (sleeper === undefined) return false
    this.now = sleeper.at
    sleeper.wake()
    return true
  }
}

/**
 * Runs a closed program to its end under a seed; the same seed gives the same run. `stuck` is a program that waits
 * for something that never comes.
 */
export const simulate = <A, E>(
  seed: number,
  program: Effect.Effect<A, E>,
  maxSteps = 200_000,
): Exit.Exit<A, E> | "stuck" => {
  const scheduler = new SeededScheduler(seed, maxSteps)
  const clock = new SimulatedClock()
  const fiber = Effect.runForkWith(
    Context.make(Scheduler.Scheduler, scheduler).pipe(Context.add(Clock.Clock, clock)),
  )(Random.withSeed(program, seed))
  while (true) {
    scheduler.drain()
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return exit
    if (!clock.jump()) return "stuck"
  }
}
