/** Ends in bounded time. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { bounded, boundedLayer } from "../src/BoundedEnd.ts"
import * as Membership from "../src/internal/Membership.ts"

class Part extends Context.Service<Part, number>()("test/Part") {}

const options = { name: "the part", within: "2 seconds" } as const

/** A layer that notes its end, which takes this. */
const partWith = (end: Effect.Effect<void>, noted: Array<string>) =>
  Layer.effect(
    Part,
    Effect.acquireRelease(Effect.succeed(1), () =>
      Effect.andThen(
        end,
        Effect.sync(() => noted.push("ended")),
      ),
    ),
  )

describe("L8 a bounded end", () => {
  it.effect("is waited for no longer than its bound, also where it cannot be interrupted", () =>
    Effect.gen(function* () {
      const ending = yield* Effect.forkDetach(
        bounded(Effect.uninterruptible(Effect.never), options),
      )
      yield* TestClock.adjust("1999 millis")
      assert.isUndefined(ending.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.isDefined(ending.pollUnsafe())
    }),
  )

  it.effect("of a layer keeps no other one from ending, and goes on behind it", () =>
    Effect.gen(function* () {
      const noted: Array<string> = []
      const scope = yield* Scope.make()
      yield* Scope.addFinalizer(
        scope,
        Effect.sync(() => noted.push("others ended")),
      )
      const part = boundedLayer(partWith(Effect.sleep("3 seconds"), noted), options)
      const context = yield* Layer.buildWithScope(part, scope)
      assert.strictEqual(Context.get(context, Part), 1)
      const closing = yield* Effect.forkDetach(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("2 seconds")
      assert.isDefined(closing.pollUnsafe())
      assert.deepStrictEqual(noted, ["others ended"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(noted, ["others ended", "ended"])
    }),
  )

  it.effect("of the membership of a node is waited for no longer than 4 seconds", () =>
    Effect.gen(function* () {
      const noted: Array<string> = []
      const member = Membership.of(partWith(Effect.sleep("5 seconds"), noted))
      const context = yield* Layer.buildWithScope(member, yield* Scope.make())
      const leaving = yield* Effect.forkDetach(Context.get(context, Membership.Membership).end)
      yield* TestClock.adjust("3999 millis")
      assert.isUndefined(leaving.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.isDefined(leaving.pollUnsafe())
      assert.deepStrictEqual(noted, [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(noted, ["ended"])
    }),
  )

  it.effect("is waited for where it comes in time", () =>
    Effect.gen(function* () {
      const noted: Array<string> = []
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(boundedLayer(partWith(Effect.void, noted), options), scope)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(noted, ["ended"])
    }),
  )

  it.effect("comes where the layer cannot be built", () =>
    Effect.gen(function* () {
      const noted: Array<string> = []
      const failing = Layer.effectDiscard(Effect.fail("no")).pipe(
        Layer.provideMerge(partWith(Effect.void, noted)),
      )
      const built = yield* Effect.exit(Effect.scoped(Layer.build(boundedLayer(failing, options))))
      assert.isTrue(Exit.isFailure(built))
      assert.deepStrictEqual(noted, ["ended"])
    }),
  )
})
