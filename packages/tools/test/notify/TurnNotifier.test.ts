import type { CompletedTurn } from "@colloquy/core/decider/CompletedTurn"
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as TurnNotifier from "../../src/notify/TurnNotifier.ts"

const turn = (turnId: number): CompletedTurn => ({
  conversationId: ConversationId.make("00000000-0000-7000-8000-000000000001"),
  turnId: String(turnId),
  cwd: "/work",
  inputMessages: [],
  lastAgentMessage: null,
})

/** Lets all runnable fibers run. */
const settle = Effect.repeat(TestClock.adjust(0), { times: 200 })

describe("TurnNotifier", () => {
  it.effect("delivers few at once, keeps few waiting and drops the rest", () =>
    Effect.gen(function* () {
      const delivered: Array<string> = []
      const open = yield* Latch.make()
      let [now, most] = [0, 0]
      const notify = yield* TurnNotifier.make(({ turnId }) =>
        Effect.suspend(() => {
          most = Math.max(most, ++now)
          delivered.push(turnId)
          return open.await
        }).pipe(Effect.ensuring(Effect.sync(() => now--))),
      )
      yield* settle
      for (let i = 0; i < TurnNotifier.maxAtOnce; i++) notify(turn(i))
      yield* settle
      for (let i = 0; i < 200; i++) notify(turn(100 + i))
      yield* settle
      assert.strictEqual(delivered.length, TurnNotifier.maxAtOnce)
      yield* open.open
      yield* settle
      assert.strictEqual(delivered.length, TurnNotifier.maxAtOnce + TurnNotifier.maxWaiting)
      assert.strictEqual(most, TurnNotifier.maxAtOnce)
      notify(turn(999))
      yield* settle
      assert.strictEqual(delivered.at(-1), "999")
    }).pipe(Effect.scoped),
  )

  it.effect("L13 a delivery that fails with a defect does not prevent later ones", () =>
    Effect.gen(function* () {
      const delivered: Array<string> = []
      const notify = yield* TurnNotifier.make(({ turnId }) => {
        delivered.push(turnId)
        return Effect.die("broken")
      })
      for (let i = 0; i < 20; i++) notify(turn(i))
      yield* settle
      assert.strictEqual(delivered.length, 20)
    }).pipe(Effect.scoped),
  )

  it.effect(
    "L8 when the scope closes, an accepted notification has one second, then it is interrupted",
    () =>
      Effect.gen(function* () {
        const ended: Array<string> = []
        const scope = yield* Scope.make()
        const notify = yield* Scope.provide(
          TurnNotifier.make(({ turnId }) =>
            Effect.sleep(turnId === "0" ? "900 millis" : "1 hour").pipe(
              Effect.andThen(Effect.sync(() => ended.push(`${turnId} done`))),
              Effect.onInterrupt(() => Effect.sync(() => ended.push(`${turnId} interrupted`))),
            ),
          ),
          scope,
        )
        notify(turn(0))
        notify(turn(1))
        yield* settle
        const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        yield* TestClock.adjust("999 millis")
        assert.deepStrictEqual(ended, ["0 done"])
        assert.isUndefined(closing.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        yield* Fiber.join(closing)
        assert.deepStrictEqual(ended, ["0 done", "1 interrupted"])
        notify(turn(2))
        yield* settle
        assert.deepStrictEqual(ended, ["0 done", "1 interrupted"])
      }),
  )
})
