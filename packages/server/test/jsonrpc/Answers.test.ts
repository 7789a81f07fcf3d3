import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { make } from "../../src/jsonrpc/Answers.ts"

describe("Answers", () => {
  it.effect("L9 waits for a slow reader up to its bound", () =>
    Effect.gen(function* () {
      const answers = yield* make(() => Effect.never, 2)
      yield* answers.send("a")
      yield* answers.send("b")
      const third = yield* Effect.forkChild(answers.send("c"), { startImmediately: true })
      yield* Effect.yieldNow
      assert.isUndefined(third.pollUnsafe())
    }),
  )

  it.effect("completes when everything was accepted, in order", () =>
    Effect.gen(function* () {
      const sent: Array<string> = []
      const reads = yield* Deferred.make<void>()
      const answers = yield* make(
        (texts) =>
          Effect.andThen(
            Deferred.await(reads),
            Effect.sync(() => sent.push(...texts)),
          ),
        8,
      )
      for (const text of ["a", "b", "c"]) yield* answers.send(text)
      const settled = yield* Effect.forkChild(answers.settled, { startImmediately: true })
      yield* Effect.yieldNow
      assert.isUndefined(settled.pollUnsafe())
      yield* Deferred.succeed(reads, undefined)
      yield* Fiber.join(settled)
      assert.deepStrictEqual(sent, ["a", "b", "c"])
    }),
  )

  it.effect("drops unread responses when its scope closes", () =>
    Effect.gen(function* () {
      let gone = 0
      yield* Effect.scoped(
        Effect.gen(function* () {
          const send = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => gone++))
          const answers = yield* make(send, 8)
          yield* answers.send("a")
          yield* answers.send("b")
        }),
      )
      assert.strictEqual(gone, 2)
    }),
  )
})
