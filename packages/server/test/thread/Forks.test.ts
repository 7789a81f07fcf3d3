/** `thread/fork`: the copy has the turns of its original as they were, and is itself as old as it is. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { resultOf } from "../support/AppHarness.ts"
import { at, started, turn, withThreads } from "../support/Threading.ts"

describe("thread/fork", () => {
  it.effect("a copy has the times of the turns and items that it copies", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        for (const id of ["one", "two"]) {
          yield* TestClock.adjust("10 seconds")
          yield* turn(app, threadId, id, {}, id)
          yield* app.quiet
        }
        const read = resultOf(
          yield* app.ask("read", "thread/read", { threadId, includeTurns: true }),
        )
        const turns = at(read, "thread", "turns")
        assert.deepStrictEqual(
          [0, 1].map((place) => at(turns, place, "startedAt")),
          [10, 20],
        )
        yield* TestClock.adjust("1 hour")
        const fork = resultOf(yield* app.ask("fork", "thread/fork", { threadId }))
        assert.deepStrictEqual(at(fork, "thread", "turns"), turns)
        assert.deepInclude(at(fork, "thread"), { createdAt: 3620, updatedAt: 3620 })
        const copy = resultOf(
          yield* app.ask("copy", "thread/read", {
            threadId: at(fork, "thread", "id"),
            includeTurns: true,
          }),
        )
        assert.deepStrictEqual(at(copy, "thread", "turns"), turns)
      }),
    ),
  )
})
