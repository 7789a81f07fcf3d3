import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { Conversation } from "../../src/Conversation.ts"
import { Listeners } from "../../src/listeners/Listeners.ts"
import { dispatch, run, runUntil, snapshot, untilTurnEnds } from "../../src/listeners/Listening.ts"
import { type Draft, numberDrafts } from "../../src/decider/State.ts"
import { EventLog } from "../../src/log/EventLog.ts"

const note = (message: string): EventMsg => ({ type: "background_event", message })
const delta = (text: string): EventMsg => ({ type: "agent_message_delta", delta: text })
const complete: EventMsg = { type: "task_complete", last_agent_message: "done" }

/** A log and its listeners, to which `publish` adds events of submission `id` as a conversation does. */
const conversation = () => {
  const log = new EventLog()
  const listeners = new Listeners(log)
  const publish = (id: string, ...messages: ReadonlyArray<EventMsg>) => {
    const events = numberDrafts(
      log.seq,
      messages.map((msg): Draft => ({ id, msg })),
    )
    log.append(events)
    listeners.publish(events)
  }
  const attach: Conversation["attach"] = (options) => listeners.attach(options)
  return { attach, listeners, publish }
}

describe("Listening", () => {
  it.effect("hands each delivery to the handler of its kind, in order, and waits for it", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const event: Event = { seq: 3, id: "t", msg: note("n") }
      const saw = (what: string) =>
        Effect.andThen(
          Effect.yieldNow,
          Effect.sync(() => seen.push(what)),
        )
      yield* dispatch(
        [
          { _tag: "Lagged", from: 3 },
          { _tag: "Event", atMs: 0, event },
          { _tag: "Synced", seq: 4 },
          { _tag: "Ask", event },
        ],
        {
          event: ({ seq }) => saw(`event ${seq}`),
          ask: ({ seq }) => saw(`ask ${seq}`),
          synced: (seq) => {
            seen.push(`synced ${seq}`)
          },
          lagged: (from) => saw(`lagged ${from}`),
          taken: () => saw("taken"),
        },
      )
      assert.deepStrictEqual(seen, ["lagged 3", "event 3", "synced 4", "ask 3", "taken"])
      yield* dispatch([{ _tag: "Event", atMs: 0, event }], {})
    }),
  )

  it.effect("stops at the first handler that fails", () =>
    Effect.gen(function* () {
      const { listeners, publish } = conversation()
      const listener = yield* listeners.attach()
      publish("t", note("0"), note("1"), note("2"))
      const seen: Array<number> = []
      const exit = yield* Effect.exit(
        run(listener, {
          event: ({ seq }) => {
            seen.push(seq)
            return seq === 1 ? Effect.fail("enough" as const) : undefined
          },
        }),
      )
      assert.deepStrictEqual(exit, Exit.fail("enough" as const))
      assert.deepStrictEqual(seen, [0, 1])
    }),
  )

  it.effect("runs until the conversation ends", () =>
    Effect.gen(function* () {
      const { listeners, publish } = conversation()
      publish("t", note("0"))
      const listener = yield* listeners.attach({ from: 0 })
      const seen: Array<number> = []
      let takes = 0
      const running = yield* Effect.forkChild(
        Effect.flip(
          run(listener, {
            event: ({ seq }) => void seen.push(seq),
            taken: () => {
              takes++
            },
          }),
        ),
        { startImmediately: true },
      )
      publish("t", note("1"), note("2"))
      listeners.end()
      assert.strictEqual((yield* Fiber.join(running))._tag, "Done")
      assert.deepStrictEqual(seen, [0, 1, 2])
      assert.strictEqual(takes, 2)
    }),
  )

  it.effect("runs until it is done, which it asks after each take", () =>
    Effect.gen(function* () {
      const { listeners, publish } = conversation()
      publish("t", note("0"), note("1"))
      const listener = yield* listeners.attach({ from: 0 })
      let next = 0
      yield* runUntil(
        listener,
        Effect.sync(() => next >= 1),
        {
          event: ({ seq }) => {
            next = seq + 1
          },
        },
      )
      assert.strictEqual(next, 2)
      // `runUntil` takes nothing when `isDone` is true from the start.
      yield* runUntil(listener, Effect.succeed(true), {})
    }),
  )

  it.effect("waits for the terminal event of its own turn, and shows every event before it", () =>
    Effect.gen(function* () {
      const { listeners, publish } = conversation()
      const listener = yield* listeners.attach()
      const seen: Array<string> = []
      const ended = yield* Effect.forkChild(
        untilTurnEnds(listener, "mine", ({ id, msg }) => {
          seen.push(`${id} ${msg.type}`)
        }),
        { startImmediately: true },
      )
      publish("other", note("0"), complete)
      yield* Effect.yieldNow
      publish("mine", delta("d"), complete)
      publish("mine", note("late"))
      assert.deepStrictEqual(yield* Fiber.join(ended), { id: "mine", seq: 2, msg: complete })
      assert.deepStrictEqual(seen, [
        "other background_event",
        "other task_complete",
        "mine agent_message_delta",
        "mine task_complete",
      ])
    }),
  )

  it.effect("fails with the end of a conversation that ends before the turn", () =>
    Effect.gen(function* () {
      const { listeners, publish } = conversation()
      const listener = yield* listeners.attach()
      publish("mine", note("0"))
      listeners.end()
      assert.strictEqual((yield* Effect.flip(untilTurnEnds(listener, "mine")))._tag, "Done")
    }),
  )

  it.effect("L4 gives a snapshot of every durable event and of each text in progress", () =>
    Effect.gen(function* () {
      const { attach, listeners, publish } = conversation()
      publish("t", ...Array.from({ length: 600 }, (_, i) => note(`${i}`)))
      publish("t", delta("a"), delta("b"))
      const events = yield* snapshot({ attach })
      assert.deepStrictEqual(
        events.map(({ seq }) => seq),
        [...Array.from({ length: 600 }, (_, i) => i), 599],
      )
      assert.deepStrictEqual(events.at(-1)?.msg, delta("ab"))
      assert.strictEqual(listeners.size, 0)
      const first = yield* snapshot({ attach }, ({ seq }) => seq === 2)
      assert.deepStrictEqual(
        first.map(({ seq }) => seq),
        [0, 1, 2],
      )
      listeners.end()
      assert.strictEqual((yield* snapshot({ attach })).length, 601)
    }),
  )
})
