/** `thread/fork`: the copy has the turns of its original as they were, and is itself as old as it is. */
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { resultOf } from "../support/AppHarness.ts"
import { at, started, turn, withThreads } from "../support/Threading.ts"

/** The id and the status of each turn of the thread. */
const turnsOf = (result: unknown) => {
  const turns = at(result, "thread", "turns")
  return Array.isArray(turns) ? turns.map((one) => [at(one, "id"), at(one, "status")]) : turns
}

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

  it.effect("a copy has no part of a turn that runs, which goes on in its original", () => {
    const script = [
      Script.reply(Script.text("done")),
      Script.reply(Script.deltas("par"), Script.hang),
    ]
    return withThreads({ script }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const first = yield* turn(app, threadId, "one", {}, "one")
        yield* app.quiet
        const second = yield* turn(app, threadId, "two", {}, "two")
        yield* app.quiet
        for (const id of ["whole", "before"]) {
          const more = id === "whole" ? {} : { beforeTurnId: second }
          const fork = resultOf(yield* app.ask(id, "thread/fork", { threadId, ...more }))
          assert.deepStrictEqual(turnsOf(fork), [[first, "completed"]])
        }
        const cut = yield* app.ask("cut", "thread/fork", { threadId, lastTurnId: second })
        assert.strictEqual(at(cut, "error", "message"), `turn not found: ${second}`)
        const read = yield* app.ask("read", "thread/read", { threadId, includeTurns: true })
        assert.deepStrictEqual(turnsOf(resultOf(read)), [
          [first, "completed"],
          [second, "inProgress"],
        ])
      }),
    )
  })
})
