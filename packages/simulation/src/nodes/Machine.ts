/**
 * One simulated process: what its fibers run on. Its scheduler passes tasks on to that of the simulation while the process
 * runs, keeps them while it is stopped, and drops them once it is dead, so that a killed process does nothing more, not even
 * in finalizers. Its clock may differ from that of the others.
 *
 * ```
 *   runs ── stop ──▶ stopped ── go ──▶ runs
 *     └────── kill ──────┴────▶ dead (for ever)
 * ```
 *
 * What resumes a fiber of the process from outside must do so by `run`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"
import type { SimulatedClock } from "../SimulatedClock.ts"

/** The scheduler and the clock that all processes of a simulation share. */
export interface Ground {
  readonly scheduler: Scheduler.Scheduler
  readonly clock: SimulatedClock
}

/** A process that can be stopped and killed. */
export class Machine {
  private state: "runs" | "stopped" | "dead" = "runs"
  private held: Array<() => void> = []
  private readonly outside: Scheduler.SchedulerDispatcher
  private readonly ground: Ground
  private readonly skewMs: number

  /** @param skewMs difference of its clock from that of the database */
  constructor(ground: Ground, skewMs: number) {
    this.ground = ground
    this.skewMs = skewMs
    this.outside = ground.scheduler.makeDispatcher()
  }

  get isDead(): boolean {
    return this.state === "dead"
  }

  get isStopped(): boolean {
    return this.state === "stopped"
  }

  /** Runs the task as one of the process, as soon as the scheduler selects it. */
  run(task: () => void): void {
    this.outside.scheduleTask(() => this.pass(task), 0)
  }

  /** Holds every task until `go`. */
  stop(): void {
    if (this.state === "runs") this.state = "stopped"
  }

  /** Continues after `stop`. */
  go(): void {
    if (this.state !== "stopped") return
    this.state = "runs"
    const { held } = this
    this.held = []
    for (const task of held) this.run(task)
  }

  /** Drops every task, now and later. */
  kill(): void {
    this.state = "dead"
    this.held = []
  }

  /** The context with the scheduler and the clock of the process. */
  within<R>(context: Context.Context<R>): Context.Context<R> {
    return context.pipe(
      Context.add(Scheduler.Scheduler, this.scheduler),
      Context.add(Clock.Clock, this.clock),
    )
  }

  private pass(task: () => void): void {
    if (this.state === "runs") task()
    else if (this.state === "stopped") this.held.push(task)
  }

  private get scheduler(): Scheduler.Scheduler {
    const { scheduler } = this.ground
    return {
      executionMode: "sync",
      shouldYield: (fiber) => scheduler.shouldYield(fiber),
      makeDispatcher: () => {
        const dispatcher = scheduler.makeDispatcher()
        return {
          scheduleTask: (task, priority) =>
            dispatcher.scheduleTask(() => this.pass(task), priority),
          flush: () => dispatcher.flush(),
        }
      },
    }
  }

  private get clock(): Clock.Clock {
    const { clock } = this.ground
    const now = () => clock.currentTimeMillisUnsafe() + this.skewMs
    const nanos = () => BigInt(now()) * 1_000_000n
    return {
      currentTimeMillisUnsafe: now,
      currentTimeMillis: Effect.sync(now),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep: (duration) => this.sleep(Duration.toMillis(duration)),
    }
  }

  private sleep(ms: number): Effect.Effect<void> {
    if (!Number.isFinite(ms)) return Effect.never
    return Effect.callback((resume) =>
      Effect.sync(this.ground.clock.timer(ms, () => this.run(() => resume(Effect.void)))),
    )
  }
}
