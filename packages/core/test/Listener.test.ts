import type { Event } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as PubSub from "effect/PubSub"
import { EventLog } from "../src/EventLog.ts"
import { type Batch, make } from "../src/Listener.ts"
import { defaultOutboxLimits } from "../src/Outbox.ts"
import { eventsOf, takeToEnd, takeUntil } from "./support.ts"
import { simulate } from "@colloquy/testing/simulation/Simulate"

const note = (seq: number): Event => ({
  seq,
  id: "t",
  msg: { type: "background_event", message: `${seq}` },
})

describe("Listener", () => {
  it("L4 wakes for every batch and for the end, whenever they come", () => {
    const program = Effect.gen(function* () {
      const log = new EventLog()
      const hub = yield* PubSub.bounded<Batch>(2)
      const listener = yield* make(log, hub, defaultOutboxLimits, 0)
      for (let seq = 0; seq < 4; seq++) {
        const reader = yield* Effect.forkChild(
          takeUntil(listener, (d) => d._tag === "Event" && d.event.seq === seq),
        )
        log.append([note(seq)])
        yield* PubSub.publish(hub, { _tag: "Events", events: [note(seq)], end: log.position })
        yield* Fiber.join(reader)
      }
      const rest = yield* Effect.forkChild(takeToEnd(listener))
      yield* PubSub.end(hub, { _tag: "Closed" })
      return eventsOf(yield* Fiber.join(rest))
    }).pipe(Effect.scoped)
    for (let seed = 0; seed < 2000; seed++) {
      const { exit } = simulate(seed, program)
      if (exit === "stuck" || exit === "livelock")
        assert.fail(`seed ${seed}: a listener sleeps through an event`)
      assert.deepStrictEqual(exit, Exit.succeed([]), `seed ${seed}`)
    }
  })

  it("L6 stops with its scope and does not hold the publisher up", () => {
    const program = Effect.gen(function* () {
      const log = new EventLog()
      const hub = yield* PubSub.bounded<Batch>(2)
      const owner = yield* Effect.forkChild(
        Effect.scoped(
          Effect.flatMap(make(log, hub, defaultOutboxLimits, 0), ({ take }) =>
            Effect.forever(take),
          ),
        ),
      )
      const publisher = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 20 }), (_, seq) => {
          log.append([note(seq)])
          return PubSub.publish(hub, { _tag: "Events", events: [note(seq)], end: log.position })
        }),
      )
      yield* Effect.yieldNow
      yield* Fiber.interrupt(owner)
      yield* Fiber.join(publisher)
      return log.seq
    })
    for (let seed = 0; seed < 300; seed++) {
      assert.deepStrictEqual(simulate(seed, program).exit, Exit.succeed(20), `seed ${seed}`)
    }
  })
})
