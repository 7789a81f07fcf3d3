/** The test that somebody writes for the program, on the virtual clock. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, layer } from "./turn.ts"

it.effect("a turn ends", () =>
  Effect.gen(function* () {
    const types = yield* ask("hello")
    assert.strictEqual(types.at(-1), "task_complete")
  }).pipe(Effect.provide(layer)),
)
