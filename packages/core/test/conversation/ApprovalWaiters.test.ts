import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { ApprovalWaiters } from "../../src/conversation/ApprovalWaiters.ts"
import type { Input } from "../../src/decider/Decision.ts"
import { asks, exec } from "../approvals.ts"
import { settle } from "../support.ts"

/** An `ApprovalWaiters` whose conversation only collects the inputs; `taken`: whether it accepts them. */
const desk = Effect.fnUntraced(function* (taken = true) {
  const sent: Array<Input> = []
  const scope = yield* Scope.make()
  const desk = new ApprovalWaiters(scope, (input) =>
    Effect.sync(() => {
      sent.push(input)
      return taken
    }),
  )
  const ask = (callId: string) =>
    Effect.forkChild(desk.ask("a", exec(callId)), { startImmediately: true })
  yield* TestClock.adjust(0)
  return { desk, sent, ask, scope }
})

const approved = { decision: "approved", reason: "answered" } as const
const atShutdown = { decision: "denied", reason: "shutdown" } as const

describe("ApprovalWaiters", () => {
  it.effect("L7 gives each waiting tool its verdict, once", () =>
    Effect.gen(function* () {
      const { desk: d, sent, ask } = yield* desk()
      const [one, two] = [yield* ask("c"), yield* ask("c")]
      assert.deepStrictEqual(sent, [asks(0, exec("c")), asks(1, exec("c"))])
      yield* d.resolve(1, approved)
      yield* d.resolve(1, atShutdown)
      assert.deepStrictEqual(yield* Fiber.join(two), approved)
      yield* settle
      assert.isUndefined(one.pollUnsafe())
      yield* d.resolve(0, atShutdown)
      assert.deepStrictEqual(yield* Fiber.join(one), atShutdown)
    }),
  )

  it.effect(
    "L7 denies the questions that wait when it closes, and those asked after the conversation has ended",
    () =>
      Effect.gen(function* () {
        const { desk: d, ask } = yield* desk()
        const asked = [yield* ask("c"), yield* ask("d")]
        yield* d.close()
        assert.deepStrictEqual(yield* Fiber.joinAll(asked), [atShutdown, atShutdown])
        const over = yield* desk(false)
        assert.deepStrictEqual(yield* Fiber.join(yield* over.ask("c")), atShutdown)
      }),
  )

  it.effect("L7 withdraws the question of a tool that is interrupted while it waits", () =>
    Effect.gen(function* () {
      const { sent, ask } = yield* desk()
      yield* Fiber.interrupt(yield* ask("c"))
      assert.deepStrictEqual(sent.slice(1), [{ _tag: "Withdraw", number: 0 }])
    }),
  )

  it.effect("L7 lets a question expire that is not resolved by its deadline, and only that", () =>
    Effect.gen(function* () {
      const { desk: d, sent, ask, scope } = yield* desk()
      yield* Effect.all([ask("c"), ask("d"), ask("e")])
      for (const number of [0, 1, 2, 7]) yield* d.startDeadline(number, Duration.seconds(5))
      yield* TestClock.adjust("4 seconds")
      yield* d.resolve(0, approved)
      yield* settle
      assert.strictEqual(sent.length, 3)
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(sent.slice(3), [
        { _tag: "Expire", number: 1 },
        { _tag: "Expire", number: 2 },
      ])
      yield* Scope.close(scope, Exit.void)
    }),
  )

  it.effect("runs no deadline after its scope", () =>
    Effect.gen(function* () {
      const { desk: d, sent, ask, scope } = yield* desk()
      yield* ask("c")
      yield* d.startDeadline(0, Duration.seconds(5))
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(sent.length, 1)
    }),
  )
})
