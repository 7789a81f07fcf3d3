import type { Event } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { EventLog } from "../src/EventLog.ts"
import { Listeners } from "../src/Listeners.ts"
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
      const listeners = new Listeners(log)
      const listener = yield* listeners.attach({ from: 0 })
      for (let seq = 0; seq < 4; seq++) {
        const reader = yield* Effect.forkChild(
          takeUntil(listener, (d) => d._tag === "Event" && d.event.seq === seq),
        )
        log.append([note(seq)])
        listeners.publish([note(seq)], log.position)
        yield* Fiber.join(reader)
      }
      const rest = yield* Effect.forkChild(takeToEnd(listener))
      listeners.end()
      return eventsOf(yield* Fiber.join(rest))
    }).pipe(Effect.scoped)
    for (let seed = 0; seed < 2000; seed++) {
      const { exit } = simulate(seed, program)
      if (exit === "stuck" || exit === "livelock")
        assert.fail(`seed ${seed}: a listener sleeps through an event`)
      assert.deepStrictEqual(exit, Exit.succeed([]), `seed ${seed}`)
    }
  })

  it("L4 that attaches after the end gets the log and the end", () => {
    const log = new EventLog()
    const listeners = new Listeners(log)
    log.append([note(0)])
    listeners.end()
    const program = Effect.flatMap(listeners.attach({ from: 0 }), takeToEnd).pipe(Effect.scoped)
    const { exit } = simulate(1, program)
    assert.deepStrictEqual(
      exit,
      Exit.succeed([
        { _tag: "Event", event: note(0) },
        { _tag: "Synced", seq: 1 },
      ]),
    )
  })

  it("L6 leaves with its scope and is given nothing more", () => {
    const program = Effect.gen(function* () {
      const log = new EventLog()
      const listeners = new Listeners(log)
      const owner = yield* Effect.forkChild(
        Effect.scoped(
          Effect.flatMap(listeners.attach({ from: 0 }), ({ take }) => Effect.forever(take)),
        ),
      )
      const publisher = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 20 }), (_, seq) =>
          Effect.sync(() => {
            log.append([note(seq)])
            listeners.publish([note(seq)], log.position)
          }),
        ),
      )
      yield* Effect.yieldNow
      yield* Fiber.interrupt(owner)
      yield* Fiber.join(publisher)
      return [log.seq, listeners.size]
    })
    for (let seed = 0; seed < 300; seed++) {
      assert.deepStrictEqual(simulate(seed, program).exit, Exit.succeed([20, 0]), `seed ${seed}`)
    }
  })
})
