import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"
import { ConversationManager } from "../src/ConversationManager.ts"
import { observed } from "./stores.ts"
import {
  answer,
  callItem,
  completed,
  done,
  isEnd,
  managerLayer,
  type Response,
  says,
  scripted,
  settings,
  settle,
  takeUntil,
  tools,
} from "./support.ts"

/** A scheduler that counts the operations of all fibers that use it. */
class CountingScheduler extends Scheduler.MixedScheduler {
  operations = 0
  override shouldYield(fiber: Parameters<Scheduler.MixedScheduler["shouldYield"]>[0]): boolean {
    this.operations++
    return super.shouldYield(fiber)
  }
}

const warm = 3

/** What the turn that follows `warm` others costs with these responses, over a store that takes a moment to sync. */
const costOf = (...responses: ReadonlyArray<Response>) => {
  const scheduler = new CountingScheduler()
  const store = observed()
  store.faults.append = (_, really) => Effect.andThen(Effect.yieldNow, really)
  const script = scripted(...Array.from({ length: warm }, () => answer("yes")), ...responses)
  const touch = tools({ touch: () => Effect.succeed("touched") })
  return Effect.gen(function* () {
    const live = yield* Clock.Clock
    let timers = 0
    const clock: Clock.Clock = Object.create(live, {
      sleep: {
        value: (duration: Parameters<Clock.Clock["sleep"]>[0]) => {
          timers++
          return live.sleep(duration)
        },
      },
    }) as Clock.Clock
    const fiberId = Effect.map(Effect.forkChild(Effect.void), ({ id }) => id)
    const run = Effect.gen(function* () {
      const conversation = yield* (yield* ConversationManager).create(settings)
      const turn = Effect.scoped(
        Effect.gen(function* () {
          const listener = yield* conversation.attach({ answers: true })
          yield* conversation.submit(says("hi"))
          yield* takeUntil(listener, isEnd)
        }),
      )
      for (let i = 0; i < warm; i++) yield* turn
      yield* settle
      store.calls.length = 0
      timers = 0
      const from = yield* fiberId
      scheduler.operations = 0
      yield* turn
      const { operations } = scheduler
      const fibers = (yield* fiberId) - from - 1
      const appends = store.calls.filter((call) => call.startsWith("append"))
      return { fibers, operations, timers, appends }
    })
    return yield* run.pipe(
      Effect.provide(managerLayer(script, { store: store.layer, tools: touch })),
      Effect.provideService(Clock.Clock, clock),
      Effect.provideService(Scheduler.Scheduler, scheduler),
    )
  })
}

describe("one turn of a loaded conversation", () => {
  it.effect("costs one fiber beside its appends, two syncs and few operations", () =>
    Effect.gen(function* () {
      const { appends, fibers, operations, timers } = yield* costOf(answer("a reply"))
      assert.deepStrictEqual(appends, ["append synced", "append synced"])
      assert.deepStrictEqual({ fibers, timers }, { fibers: 3, timers: 0 })
      assert.isAtMost(operations, 1.1 * 214)
    }),
  )

  it.effect("costs as many operations however many deltas arrive together", () =>
    Effect.gen(function* () {
      const few = yield* costOf(answer("a"))
      const many = yield* costOf(answer("a".repeat(500)))
      assert.isAtMost(many.operations, 1.1 * few.operations)
      assert.strictEqual(many.fibers, few.fibers)
    }),
  )

  it.effect("costs two more syncs, and no more fibers than these, for a tool call", () =>
    Effect.gen(function* () {
      const { appends, fibers, operations, timers } = yield* costOf(
        [done(callItem("touch", "c")), completed],
        answer("end"),
      )
      assert.deepStrictEqual(
        appends,
        appends.map(() => "append synced"),
      )
      assert.deepStrictEqual(
        { appends: appends.length, fibers, timers },
        { appends: 4, fibers: 5, timers: 0 },
      )
      assert.isAtMost(operations, 1.1 * 362)
    }),
  )
})
