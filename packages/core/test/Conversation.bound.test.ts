import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Conversation } from "../src/Conversation.ts"
import {
  answer,
  callItem,
  completed,
  done,
  eventsOf,
  open,
  outputItem,
  type Response,
  says,
  settings,
  settle,
  takeToEnd,
  tools,
  userItem,
} from "./support.ts"

/** A conversation whose first turn, when interrupted, does not stop until `release`, and emits an event then. */
const stubborn = Effect.fnUntraced(function* (killGraceMs?: number) {
  const release = yield* Deferred.make<void>()
  const hangs: Response = [done(callItem("hang", "c")), completed]
  const opened = yield* open([hangs, answer("two")], {
    ...(killGraceMs === undefined
      ? {}
      : { settings: { ...settings, killGrace: Duration.millis(killGraceMs) } }),
    tools: tools({
      hang: (_, { emit }) =>
        Effect.onInterrupt(Effect.never, () =>
          Effect.andThen(
            Deferred.await(release),
            emit({ type: "background_event", message: "late" }),
          ),
        ),
    }),
  })
  yield* opened.conversation.submit(says("one"), { id: "a" })
  yield* settle
  return { ...opened, release: Deferred.succeed(release, undefined) }
})

const turnEvents = ["task_started", "task_complete", "turn_aborted", "shutdown_complete"]

const stops: ReadonlyArray<
  readonly [string, (conversation: Conversation) => Effect.Effect<unknown, unknown>]
> = [
  ["interrupt", (c) => c.submit({ type: "interrupt" })],
  ["cancel", (c) => c.cancel("a")],
  ["input that interrupts", (c) => c.submit(says("x"), { id: "x", whileRunning: "interrupt" })],
  ["shutdown", (c) => c.submit({ type: "shutdown" }, { id: "bye" })],
]

describe("a turn that does not stop", () => {
  for (const [name, stop] of stops) {
    it.effect(`L14 has ended within a second and the kill grace: ${name}`, () =>
      Effect.gen(function* () {
        const { conversation, release, listener, close } = yield* stubborn(250)
        yield* stop(conversation)
        yield* TestClock.adjust("1249 millis")
        assert.strictEqual((yield* conversation.state).turn?.id, "a")
        yield* TestClock.adjust("1 millis")
        yield* settle
        const { turn, closing } = yield* conversation.state
        assert.isUndefined(turn)
        assert.strictEqual(closing, name === "shutdown")
        yield* release
        yield* close
        const ofTurn = eventsOf(yield* takeToEnd(listener)).filter(({ id }) => id === "a")
        assert.deepStrictEqual(ofTurn.at(-1)?.msg, {
          type: "turn_aborted",
          reason: name === "input that interrupts" ? "replaced" : "interrupted",
        })
      }),
    )
  }

  it.effect("L14 gets half a second of grace when the settings name none", () =>
    Effect.gen(function* () {
      const { conversation, release } = yield* stubborn()
      yield* conversation.cancel("a")
      yield* TestClock.adjust("1499 millis")
      assert.strictEqual((yield* conversation.state).turn?.id, "a")
      yield* TestClock.adjust("1 millis")
      yield* settle
      assert.isUndefined((yield* conversation.state).turn)
      yield* release
    }),
  )

  it.effect("L14 counts from the first of several interrupts", () =>
    Effect.gen(function* () {
      const { conversation, release } = yield* stubborn(0)
      yield* conversation.cancel("a")
      yield* TestClock.adjust("900 millis")
      yield* conversation.submit({ type: "interrupt" })
      yield* TestClock.adjust("100 millis")
      yield* settle
      assert.isUndefined((yield* conversation.state).turn)
      yield* release
    }),
  )

  it.effect("L5 lets the next turn run, and its later events are dropped", () =>
    Effect.gen(function* () {
      const { conversation, requests, release, listener, close } = yield* stubborn()
      yield* conversation.submit(says("two"), { id: "b", whileRunning: "interrupt" })
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.deepStrictEqual(requests[1]?.input.slice(1), [
        userItem("one"),
        callItem("hang", "c"),
        outputItem("c", "aborted"),
        userItem("two"),
      ])
      yield* release
      yield* settle
      yield* close
      const events = eventsOf(yield* takeToEnd(listener))
      assert.deepStrictEqual(
        events.flatMap(({ id, msg }) => (turnEvents.includes(msg.type) ? [[id, msg.type]] : [])),
        [
          ["a", "task_started"],
          ["a", "turn_aborted"],
          ["b", "task_started"],
          ["b", "task_complete"],
          ["0", "shutdown_complete"],
        ],
      )
      assert.isFalse(events.some(({ msg }) => msg.type === "background_event"))
    }),
  )

  it.effect("L14 an interrupt of an idle conversation is answered and stops no later turn", () =>
    Effect.gen(function* () {
      const { conversation } = yield* open([answer("x"), Stream.never])
      yield* conversation.submit(says("one"), { id: "a" })
      yield* settle
      assert.deepStrictEqual(yield* conversation.submit({ type: "interrupt" }, { id: "i" }), {
        id: "i",
        disposition: "none",
      })
      yield* conversation.submit(says("two"), { id: "b" })
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.strictEqual((yield* conversation.state).turn?.id, "b")
    }),
  )
})
