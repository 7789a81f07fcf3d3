import type { Event } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { EventLog } from "../../src/log/EventLog.ts"
import { Listeners } from "../../src/listeners/Listeners.ts"
import { eventsOf, takeToEnd, takeUntil } from "../support.ts"
import { simulate } from "@colloquy/simulation/Simulate"

const note = (seq: number): Event => ({
  seq,
  id: "t",
  msg: { type: "background_event", message: `${seq}` },
})

const delta = (text: string): Event => ({
  seq: -1,
  id: "t",
  msg: { type: "agent_message_delta", delta: text },
})

/** A log and its listeners; an event is appended and published in one step, as a conversation does. */
const talk = () => {
  const log = new EventLog()
  const listeners = new Listeners(log)
  const say = (...events: ReadonlyArray<Event>) => {
    log.append(events)
    listeners.publish(events)
  }
  return { log, listeners, say }
}

describe("Listener", () => {
  it("L4 wakes for every batch and for the end, whenever they come", () => {
    const program = Effect.gen(function* () {
      const { listeners, say } = talk()
      const listener = yield* listeners.attach({ from: 0 })
      for (let seq = 0; seq < 4; seq++) {
        const reader = yield* Effect.forkChild(
          takeUntil(listener, (d) => d._tag === "Event" && d.event.seq === seq),
        )
        say(note(seq))
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

  it.effect("L4 gives what is left at the end, then the end", () =>
    Effect.gen(function* () {
      const { listeners, say } = talk()
      const listener = yield* listeners.attach()
      yield* listener.take
      say(note(0), note(1))
      listeners.end()
      assert.deepStrictEqual(yield* takeToEnd(listener), [
        { _tag: "Event", atMs: 0, event: note(0) },
        { _tag: "Event", atMs: 0, event: note(1) },
      ])
    }),
  )

  it.effect("L4 gives one that attaches after the end the log and the end", () =>
    Effect.gen(function* () {
      const { listeners, say } = talk()
      say(note(0))
      listeners.end()
      const listener = yield* listeners.attach({ from: 0 })
      assert.deepStrictEqual(yield* takeToEnd(listener), [
        { _tag: "Event", atMs: 0, event: note(0) },
        { _tag: "Synced", seq: 1 },
      ])
    }),
  )

  it.effect("gives one that reads every delta by itself, however many come at once", () =>
    Effect.gen(function* () {
      const { listeners, say } = talk()
      const listener = yield* listeners.attach()
      yield* listener.take
      const written = Array.from({ length: 5000 }, (_, i) => delta(`${i} `))
      say(...written)
      assert.deepStrictEqual(eventsOf(yield* listener.take), written)
      for (const one of written) say(one)
      assert.deepStrictEqual(eventsOf(yield* listener.take), written)
    }),
  )

  it.effect("L6 keeps the text and few objects of the deltas for one that does not read", () =>
    Effect.gen(function* () {
      const { listeners, say } = talk()
      const listener = yield* listeners.attach()
      yield* listener.take
      let text = ""
      for (let i = 0; i < 50; i++) {
        const written = Array.from({ length: 1000 }, (_, n) => delta(`${n} `))
        text += written.map(({ msg }) => ("delta" in msg ? msg.delta : "")).join("")
        say(...written)
      }
      const unread = eventsOf(yield* listener.take)
      assert.strictEqual(unread.length, 128)
      assert.strictEqual(unread.map(({ msg }) => ("delta" in msg ? msg.delta : "")).join(""), text)
      say(delta("a"), delta("b"))
      assert.strictEqual(eventsOf(yield* listener.take).length, 2)
    }),
  )

  it.effect("L6 runs none of a listener's code inside the fiber that publishes", () =>
    Effect.gen(function* () {
      const { listeners, say } = talk()
      const listener = yield* listeners.attach()
      yield* listener.take
      const story: Array<string> = []
      const reader = yield* Effect.forkChild(
        Effect.map(listener.take, (deliveries) => {
          story.push(`took ${deliveries.length}`)
        }),
        { startImmediately: true },
      )
      say(note(0))
      story.push("published")
      say(note(1))
      story.push("published")
      yield* Fiber.join(reader)
      assert.deepStrictEqual(story, ["published", "published", "took 2"])
    }),
  )

  it.effect("L6 is given nothing more from the moment its scope closes", () =>
    Effect.gen(function* () {
      const { listeners, say } = talk()
      const scope = yield* Scope.make()
      const gone = yield* Scope.provide(listeners.attach(), scope)
      const other = yield* listeners.attach()
      yield* Effect.forEach([gone, other], ({ take }) => take)
      assert.strictEqual(listeners.size, 2)
      say(note(0))
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(listeners.size, 1)
      say(note(1))
      listeners.end()
      assert.deepStrictEqual(eventsOf(yield* gone.take), [note(0)])
      assert.deepStrictEqual(eventsOf(yield* other.take), [note(0), note(1)])
    }),
  )

  it("L6 detaches whenever it is interrupted, and does not delay the publisher", () => {
    const program = Effect.gen(function* () {
      const { log, listeners, say } = talk()
      const owner = yield* Effect.forkChild(
        Effect.scoped(
          Effect.flatMap(listeners.attach({ from: 0 }), ({ take }) => Effect.forever(take)),
        ),
      )
      const publisher = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 20 }), (_, seq) => Effect.sync(() => say(note(seq)))),
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
