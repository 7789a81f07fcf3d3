import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Agent } from "../../src/testing/index.ts"

const look = Agent.tool("look", { run: () => Effect.succeed("nothing") })

/** The error of a turn that follows the script. */
const problem = (script: unknown) =>
  Effect.gen(function* () {
    const test = Agent.test({ tools: [look], script: script as Agent.Script })
    const chat = yield* test.open()
    const error = yield* Effect.flip(chat.ask("go").result)
    assert.strictEqual(error._tag, "TurnFailed")
    return { message: error.message, requests: test.model.requests.length }
  })

describe("scripts that cannot be followed", () => {
  it.effect("a function that always calls a tool does not run for ever", () =>
    Effect.gen(function* () {
      const { message, requests } = yield* problem(() => Agent.calls("look"))
      assert.include(message, "request 501 of one turn")
      assert.strictEqual(requests, 501)
    }),
  )

  it.effect("a chat may have many turns", () =>
    Effect.gen(function* () {
      const test = Agent.test({ script: () => "done" })
      const chat = yield* test.open()
      for (let i = 0; i < 3; i++) yield* chat.ask(`question ${i}`).result
      assert.strictEqual(test.model.requests.length, 3)
    }),
  )

  it.effect("what is no response is named", () =>
    Effect.gen(function* () {
      const got = (script: unknown) => Effect.map(problem(script), ({ message }) => message)
      assert.include(yield* got(() => Promise.resolve("done")), "got a promise")
      assert.include(yield* got(() => Effect.succeed("done")), "got an effect")
      assert.include(yield* got([() => "done"]), "got a function")
      assert.include(yield* got([[["done"]]]), 'got [["done"]]')
      assert.include(yield* got([]), "request 1")
    }),
  )
})
