/**
 * Runs ready fibers in an order drawn from a seed, and makes them yield at points drawn from it: the same seed gives
 * the same interleaving, another seed another one. Never advances time; `SimulatedClock` does.
 */
import type * as Fiber from "effect/Fiber"
import type * as Scheduler from "effect/Scheduler"
import type { Draws } from "./Draws.ts"

/** Most operations a fiber runs before it yields; each seed draws one, so that interleavings differ in granularity. */
const slices = [8, 8, 32, 128] as const

/** A scheduler of Effect that a test drives by `drain`. */
export class SeededScheduler implements Scheduler.Scheduler {
  readonly executionMode = "sync" as const
  private readonly ready: Array<() => void> = []
  private readonly draws: Draws
  private readonly slice: number
  private yieldAt: number
  private readonly maxSteps: number
  private count = 0

  constructor(draws: Draws, maxSteps: number) {
    this.draws = draws
    this.slice = slices[draws.below(slices.length, slices.length - 1)] ?? 8
    this.yieldAt = this.nextYield()
    this.maxSteps = maxSteps
  }

  /** Tasks run so far. */
  get steps(): number {
    return this.count
  }

  shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    if (fiber.currentOpCount < this.yieldAt) return false
    this.yieldAt = this.nextYield()
    return true
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
    return {
      scheduleTask: (task) => {
        this.ready.push(task)
      },
      flush: () => {
        this.drain()
      },
    }
  }

  /** Runs until no fiber is ready; returns false when the steps are used up before that. */
  drain(): boolean {
    while (this.ready.length > 0) {
      if (this.count >= this.maxSteps) return false
      this.count++
      const [task] = this.ready.splice(this.draws.below(this.ready.length, 0), 1)
      task?.()
    }
    return true
  }

  /** The number of operations after which the next fiber yields; the simplest choice is the latest. */
  private nextYield(): number {
    return 1 + this.draws.below(this.slice, this.slice - 1)
  }
}
