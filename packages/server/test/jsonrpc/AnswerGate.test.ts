import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { AnswerGate } from "../../src/jsonrpc/AnswerGate.ts"

/** Waits for the key in a fiber, and says whether it has passed. */
const waiting = (gate: AnswerGate, key: string) =>
  Effect.map(
    Effect.forkChild(gate.passed(key), { startImmediately: true }),
    (fiber) => () => Effect.as(Effect.yieldNow, fiber.pollUnsafe() !== undefined),
  )

describe("AnswerGate", () => {
  it.effect(
    "L2 a held key passes when the responses of all requests that hold it are accepted",
    () =>
      Effect.gen(function* () {
        const gate = new AnswerGate()
        const [first, second] = [gate.request(), gate.request()]
        first.hold("k")
        first.hold("k")
        second.hold("k")
        const passed = yield* waiting(gate, "k")
        const other = yield* waiting(gate, "l")
        assert.deepStrictEqual([yield* passed(), yield* other()], [false, true])
        yield* first.accepted() ?? Effect.void
        yield* Effect.yieldNow
        assert.isFalse(yield* passed())
        yield* second.accepted() ?? Effect.void
        yield* Effect.yieldNow
        assert.isTrue(yield* passed())
        yield* gate.passed("k")
      }),
  )

  it("is unused until its request registers work or holds a key", () => {
    const gate = new AnswerGate()
    const requests = [gate.request(), gate.request(), gate.request()] as const
    requests[1].hold("k")
    requests[2].afterAnswer(Effect.void)
    assert.deepStrictEqual(
      requests.map(({ isUnused }) => isUnused),
      [true, false, false],
    )
  })

  it.effect("L2 work after a response runs before the keys of its request pass", () =>
    Effect.gen(function* () {
      const gate = new AnswerGate()
      const log: Array<string> = []
      const request = gate.request()
      request.hold("k")
      request.afterAnswer(
        Effect.sync(() => log.push("after")),
        (sent) => log.push(`over, sent: ${sent}`),
      )
      const notifying = yield* Effect.forkChild(
        Effect.andThen(
          gate.passed("k"),
          Effect.sync(() => log.push("notification")),
        ),
        { startImmediately: true },
      )
      yield* request.accepted() ?? Effect.void
      yield* Fiber.join(notifying)
      request.ended(true)
      assert.deepStrictEqual(log, ["after", "notification", "over, sent: true"])
    }),
  )

  it.effect("a request that ends without a response holds nothing, and its work does not run", () =>
    Effect.gen(function* () {
      const gate = new AnswerGate()
      const log: Array<string> = []
      const request = gate.request()
      request.hold("k")
      request.afterAnswer(
        Effect.sync(() => log.push("after")),
        (sent) => log.push(`over, sent: ${sent}`),
      )
      request.ended(false)
      yield* gate.passed("k")
      assert.deepStrictEqual(log, ["over, sent: false"])
      assert.isUndefined(gate.request().accepted())
    }),
  )
})
