import { assert, describe, it } from "@effect/vitest"
import { MemoryHttp } from "./support/MemoryHttp.ts"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"
import * as Stream from "effect/Stream"
import * as HttpModel from "../src/HttpModel.ts"
import { provider, request } from "./support/Requests.ts"

/** A scheduler that counts the operations of all fibers that use it. */
class CountingScheduler extends Scheduler.MixedScheduler {
  operations = 0
  override shouldYield(fiber: Parameters<Scheduler.MixedScheduler["shouldYield"]>[0]): boolean {
    this.operations++
    return super.shouldYield(fiber)
  }
}

const events = [
  { type: "response.created" },
  { type: "response.output_item.added" },
  ...["one ", "two ", "three ", "four"].map((delta) => ({
    type: "response.output_text.delta",
    delta,
  })),
  { type: "response.completed", response: { id: "r" } },
]
  .map((event) => `data: ${JSON.stringify(event)}\n\n`)
  .join("")

const asked = request({
  provider: provider("responses", { envKey: "KEY", envHttpHeaders: { "x-org": "ORG" } }),
})
const environment = ConfigProvider.fromUnknown({ KEY: "k", ORG: "o" })

/** What one request costs once everything that is kept for later ones is known. */
const costOf = (chunks: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const scheduler = new CountingScheduler()
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
    const model = yield* HttpModel.makeWith(new MemoryHttp(chunks))
    const run = Stream.runDrain(model.stream(asked)).pipe(
      Effect.provideService(Scheduler.Scheduler, scheduler),
      Effect.provideService(Clock.Clock, clock),
      Effect.provideService(ConfigProvider.ConfigProvider, environment),
    )
    yield* run
    const next = Effect.map(Effect.forkChild(Effect.void), (fiber) => fiber.id)
    scheduler.operations = 0
    timers = 0
    const from = yield* next
    yield* run
    const fibers = (yield* next) - from - 1
    return { fibers, timers, operations: scheduler.operations }
  })

describe("one request to a provider", () => {
  it.effect(
    "costs no fiber and no timer, and few operations, when its answer arrives at once",
    () =>
      Effect.gen(function* () {
        const { fibers, operations, timers } = yield* costOf([events])
        assert.deepStrictEqual({ fibers, timers }, { fibers: 0, timers: 0 })
        assert.isAtMost(operations, 1.1 * 79)
      }),
  )

  it.effect("costs no fiber and no timer for an answer of many pieces", () =>
    Effect.gen(function* () {
      const pieces = events.match(/[^]{1,100}/g) ?? []
      const { fibers, operations, timers } = yield* costOf(pieces)
      assert.deepStrictEqual({ fibers, timers }, { fibers: 0, timers: 0 })
      assert.isAtMost(operations, 1.1 * 127)
    }),
  )
})
