import { isTerminal } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { answer, eventsOf, isEnd, open, says, settle, takeUntil } from "./support.ts"

/** The id of a new fiber: the difference of two is the number of fibers started from the first to the second. */
const fiberId = Effect.flatMap(Effect.forkChild(Effect.void), (fiber) =>
  Effect.as(Fiber.await(fiber), fiber.id),
)

describe("Conversation.events", () => {
  it.effect("L4 streams each event once and in order, until the conversation ends", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* open([answer("hello")])
      const reading = yield* Effect.forkChild(Stream.runCollect(conversation.events({ from: 0 })), {
        startImmediately: true,
      })
      yield* conversation.submit(says("hi"))
      const seen = eventsOf(yield* takeUntil(listener, isEnd))
      yield* conversation.submit({ type: "shutdown" })
      const streamed = yield* Fiber.join(reading)
      assert.deepStrictEqual(streamed.slice(0, seen.length), seen)
      assert.strictEqual(streamed.at(-1)?.msg.type, "shutdown_complete")
    }),
  )

  it.effect("L4 streams from a given event on, or only later events", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* open([answer("a")])
      yield* conversation.submit(says("hi"))
      const all = eventsOf(yield* takeUntil(listener, isEnd))
      const last = all.at(-1)?.seq ?? 0
      const some = yield* Stream.runCollect(Stream.take(conversation.events({ from: last - 1 }), 2))
      assert.deepStrictEqual(
        some.map(({ seq }) => seq),
        [last - 1, last],
      )
      const next = yield* Effect.forkChild(
        Stream.runCollect(Stream.takeUntil(conversation.events(), ({ msg }) => isTerminal(msg))),
        { startImmediately: true },
      )
      yield* conversation.submit(says("again"))
      assert.isAbove((yield* Fiber.join(next))[0]?.seq ?? 0, last)
    }),
  )

  it.effect("fails when it cannot attach", () =>
    Effect.gen(function* () {
      const { conversation } = yield* open([answer("a")])
      const failure = yield* Effect.flip(Stream.runDrain(conversation.events({ from: 99 })))
      assert.strictEqual(failure._tag, "EventsFromFuture")
    }),
  )

  it.effect("attaches when it runs, and detaches when its consumer stops", () =>
    Effect.gen(function* () {
      const { close, conversation } = yield* open([answer("a")])
      const events = conversation.events({ from: 0 })
      yield* Stream.runDrain(Stream.take(events, 1))
      yield* settle
      yield* close
      // The log stays readable after the conversation has ended.
      assert.isAbove((yield* Stream.runCollect(events)).length, 1)
    }),
  )

  it.effect("L6 starts one fiber for a conversation, one for a turn, and none for a listener", () =>
    Effect.gen(function* () {
      const before = yield* fiberId
      // `open` also advances the clock by 0, so both measurements start alike.
      yield* TestClock.adjust(0)
      const started = yield* fiberId
      const { conversation, listener } = yield* open([answer("hello"), answer("again")])
      const created = yield* fiberId
      yield* listener.take
      const other = yield* conversation.attach({ from: 0 })
      yield* other.take
      const attached = yield* fiberId
      yield* conversation.submit(says("hi"))
      for (const one of [listener, other]) yield* takeUntil(one, isEnd)
      const ended = yield* fiberId
      assert.deepStrictEqual(
        // Subtracts the fiber that each probe starts.
        [created - started - (started - before), attached - created - 1, ended - attached - 1],
        [1, 0, 1],
      )
    }),
  )
})
