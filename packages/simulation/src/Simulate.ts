/** Runs programs without real input or output under a seeded scheduler and a virtual clock: any interleaving, repeatable (L12). */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import { type Draws, RecordedDraws } from "./Draws.ts"
import { SeededScheduler } from "./SeededScheduler.ts"
import { SimulatedClock } from "./SimulatedClock.ts"

/** The result of a simulated run. */
export interface Simulation<A, E> {
  /** `stuck`: the program waits for something that never happens; `livelock`: it did not end within its steps. */
  readonly exit: Exit.Exit<A, E> | "stuck" | "livelock"
  /** Tasks the scheduler ran. */
  readonly steps: number
}

/**
 * Runs a program to its end; the same seed gives the same run.
 *
 * @param options `maxSteps`: tasks after which the run counts as a livelock; `startMs`: the virtual time at the start;
 *   `latestMs`: what sleeps longer counts as asleep for ever; `draws`: makes the choices of the scheduler, by default drawn from the seed
 */
export const simulate = <A, E>(
  seed: number,
  program: Effect.Effect<A, E>,
  {
    maxSteps = 1_000_000,
    startMs = 0,
    latestMs = Infinity,
    draws = new RecordedDraws(seed),
  }: {
    readonly maxSteps?: number
    readonly startMs?: number
    readonly latestMs?: number
    readonly draws?: Draws
  } = {},
): Simulation<A, E> => {
  const scheduler = new SeededScheduler(draws, maxSteps)
  const clock = new SimulatedClock(startMs)
  const fiber = Effect.runForkWith(
    Context.make(Scheduler.Scheduler, scheduler).pipe(Context.add(Clock.Clock, clock)),
  )(Random.withSeed(program, seed))
  while (scheduler.drain()) {
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return { exit, steps: scheduler.steps }
    const nextMs = clock.nextMs ?? Infinity
    if (nextMs > latestMs || !clock.jump()) return { exit: "stuck", steps: scheduler.steps }
  }
  return { exit: "livelock", steps: scheduler.steps }
}
