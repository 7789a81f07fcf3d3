import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Scope from "effect/Scope"
import * as KeyedLock from "../../src/internal/KeyedLock.ts"
import * as Shared from "../../src/internal/Shared.ts"

describe("Shared", () => {
  it.effect("opens a resource for the first user of its key and releases it with the last", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const shared = yield* Shared.make<string>()
      const open = (name: string) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            log.push(`open ${name}`)
            return name
          }),
          () => Effect.sync(() => log.push(`release ${name}`)),
        )
      const scopes = [yield* Scope.make(), yield* Scope.make(), yield* Scope.make()] as const
      const first = yield* Scope.provide(shared("k", open("first")), scopes[0])
      const second = yield* Scope.provide(shared("k", open("second")), scopes[1])
      const other = yield* Scope.provide(shared("l", open("other")), scopes[2])
      assert.deepStrictEqual([first, second, other], ["first", "first", "other"])
      yield* Scope.close(scopes[0], Exit.void)
      assert.deepStrictEqual(log, ["open first", "open other"])
      yield* Scope.close(scopes[1], Exit.void)
      assert.deepStrictEqual(log, ["open first", "open other", "release first"])
      assert.strictEqual(yield* shared("k", open("third")), "third")
    }),
  )

  it.effect(
    "keeps nothing of a resource that failed to open, also in a scope that stays open",
    () =>
      Effect.gen(function* () {
        const shared = yield* Shared.make<string, string>()
        assert.strictEqual(yield* Effect.flip(shared("k", Effect.fail("broken"))), "broken")
        assert.strictEqual(yield* shared("k", Effect.succeed("fine")), "fine")
      }),
  )
})

describe("KeyedLock", () => {
  it.effect("runs one effect of a key at a time, concurrently with those of other keys", () =>
    Effect.gen(function* () {
      const lock = yield* KeyedLock.make
      const open = yield* Latch.make(false)
      const log: Array<string> = []
      const step = (key: string, name: string, gate: Effect.Effect<void>) =>
        Effect.forkChild(
          lock(
            key,
            Effect.andThen(
              gate,
              Effect.sync(() => log.push(name)),
            ),
          ),
          { startImmediately: true },
        )
      const first = yield* step("k", "first", open.await)
      const second = yield* step("k", "second", Effect.void)
      const waiting = yield* step("k", "interrupted", Effect.void)
      const other = yield* step("l", "other", Effect.void)
      yield* Fiber.join(other)
      assert.deepStrictEqual(log, ["other"])
      yield* Fiber.interrupt(waiting)
      yield* open.open
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      assert.deepStrictEqual(log, ["other", "first", "second"])
    }),
  )
})
