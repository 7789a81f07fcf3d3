/**
 * Runs effects one after the other on a virtual clock and a private scheduler, and keeps their background fibers running,
 * such as a server that serves many inputs. Tasks run first in, first out, and time advances only when no task can run,
 * so the same effects give the same run (L12). Counts fibers and records every defect, including those of detached fibers.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import { SimulatedClock } from "../SimulatedClock.ts"

/** Operations after which a fiber yields; the value of Effect's default scheduler. */
const operationsPerSlice = 2048

class FirstInFirstOut implements Scheduler.Scheduler {
  readonly executionMode = "sync" as const
  private ready: Array<() => void> = []
  private next = 0

  get isIdle(): boolean {
    return this.next === this.ready.length
  }

  shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    return fiber.currentOpCount >= operationsPerSlice
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
    return {
      scheduleTask: (task) => {
        this.ready.push(task)
      },
      flush: () => {
        this.drain(Number.POSITIVE_INFINITY)
      },
    }
  }

  /** Runs until no task is ready, or `maxTasks` have run; returns the number of tasks that ran. */
  drain(maxTasks: number): number {
    let count = 0
    for (; this.next < this.ready.length && count < maxTasks; count++) this.ready[this.next++]?.()
    if (this.isIdle) {
      this.ready = []
      this.next = 0
    }
    return count
  }
}

/** How an effect ended. `stuck`: it waits for something that never happens; `endless`: it used up its tasks or its virtual time. */
export type Ended<A, E> = Exit.Exit<A, E> | "stuck" | "endless"

/** Limits of one effect. */
export interface Bounds {
  /** Tasks of the scheduler. Default 1,000,000. */
  readonly maxTasks?: number
  /** Virtual time. Default 10 minutes, far beyond every bound that the program has for one message. */
  readonly maxVirtualMs?: number
}

/** Turns of the event loop after which a native promise is considered never to settle. */
const maxTurns = 50_000

/** Resolves after the pending microtasks and after those that they cause. */
const microtasks = Effect.promise(async () => {
  for (let hops = 0; hops < 4; hops++) await Promise.resolve()
})

const isError = (level: string) => level === "Error" || level === "Fatal"

/** A clock, a scheduler and the fibers on them. */
export class VirtualMachine {
  /** Number of fibers that have not ended. */
  fibers = 0
  private readonly faults: Array<string> = []
  private readonly clock = new SimulatedClock()
  private readonly scheduler = new FirstInFirstOut()
  private readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>

  private readonly turnsBeforeTime: number

  /** @param turnsBeforeTime turns of the event loop in which nothing becomes ready before time advances */
  constructor(turnsBeforeTime = 0) {
    this.turnsBeforeTime = turnsBeforeTime
    const logger = Logger.make(({ cause, logLevel, message }) => {
      if (!isError(logLevel)) return
      const text = [message].flat().map(textOf).join(" ")
      this.faults.push(
        `logged an error: ${text}${defectsOf(cause)
          .map((d) => `; ${d}`)
          .join("")}`,
      )
    })
    this.fork = Effect.runForkWith(
      Context.make(Scheduler.Scheduler, this.scheduler).pipe(
        Context.add(Clock.Clock, this.clock),
        Context.add(Logger.CurrentLoggers, new Set([logger])),
        Context.add(Metric.FiberRuntimeMetrics, {
          recordFiberStart: () => {
            this.fibers++
          },
          recordFiberEnd: (_, exit) => {
            this.fibers--
            if (Exit.isFailure(exit)) this.faults.push(...defectsOf(exit.cause))
          },
        }),
      ),
    )
  }

  /** Number of fibers that sleep. */
  get sleeping(): number {
    return this.clock.sleeping
  }

  /** Returns and clears the defects of fibers and the logged errors since the last call, each once. */
  takeFaults(): ReadonlyArray<string> {
    return [...new Set(this.faults.splice(0))]
  }

  /** Runs the effect to its end, together with every other fiber of this machine. */
  run<A, E>(
    effect: Effect.Effect<A, E>,
    { maxTasks = 1_000_000, maxVirtualMs = 600_000 }: Bounds = {},
  ): Effect.Effect<Ended<A, E>> {
    return Effect.suspend(() => {
      const fiber = this.fork(Random.withSeed(effect, 0))
      const untilMs = this.clock.currentTimeMillisUnsafe() + maxVirtualMs
      let left = maxTasks
      let turns = 0
      let quietTurns = 0
      const step: Effect.Effect<Ended<A, E>> = Effect.suspend(() => {
        const ran = this.scheduler.drain(left)
        left -= ran
        if (ran > 0) quietTurns = 0
        const exit = fiber.pollUnsafe()
        if (exit !== undefined) return Effect.succeed(exit)
        if (left <= 0) return Effect.succeed("endless")
        return Effect.flatMap(microtasks, () => advance)
      })
      // A microtask may have made a task ready by now; time advances only when none did.
      const advance: Effect.Effect<Ended<A, E>> = Effect.suspend(() => {
        if (!this.scheduler.isIdle) return step
        if (quietTurns < this.turnsBeforeTime) {
          quietTurns++
          return Effect.andThen(Effect.yieldNow, step)
        }
        quietTurns = 0
        const { nextMs } = this.clock
        if (nextMs !== undefined && nextMs > untilMs) return Effect.succeed("endless")
        if (this.clock.jump()) return step
        return turns++ < maxTurns ? Effect.andThen(Effect.yieldNow, step) : Effect.succeed("stuck")
      })
      return step
    })
  }
}

const textOf = (part: unknown): string => {
  if (part instanceof Error) return describeDefect(part)
  return typeof part === "string" ? part : (JSON.stringify(part) ?? String(part))
}

/** Name, message and the place in the project where it was thrown; contains no absolute path. */
export const describeDefect = (defect: unknown): string => {
  if (!(defect instanceof Error)) return `defect: ${String(defect)}`
  const place = /packages\/[\w./-]+:\d+/.exec(defect.stack ?? "")?.[0]
  return `defect: ${defect.name}: ${defect.message}${place === undefined ? "" : ` (at ${place})`}`
}

const defectsOf = (cause: Cause.Cause<unknown>): ReadonlyArray<string> =>
  cause.reasons.filter(Cause.isDieReason).map(({ defect }) => describeDefect(defect))
