/** Tools that do not end by themselves, and time that passes in steps. */
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import type { Harness } from "./Harness.ts"

/** A tool that runs until it is interrupted, and records the interruption. */
export const endless = () => {
  const state = { running: 0, stopped: 0 }
  const tools = ToolRuntime.simple({
    specs: () => [],
    run: () =>
      Effect.sync(() => state.running++).pipe(
        Effect.andThen(Effect.never),
        Effect.onInterrupt(() => Effect.sync(() => state.stopped++)),
      ),
  })
  return { state, tools }
}

/** Lets time pass in steps, so that code which starts to wait again is woken, too. */
export const pass = (server: Harness, ms: number) =>
  Effect.gen(function* () {
    for (let left = ms; left > 0; left -= 250) {
      yield* TestClock.adjust(250)
      yield* server.quiet
    }
  })
