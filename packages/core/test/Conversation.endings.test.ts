import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Conversation } from "../src/Conversation.ts"
import { ConversationClosed } from "../src/ConversationErrors.ts"
import {
  answer,
  callItem,
  completed,
  delta,
  done,
  durableOf,
  endings,
  eventsOf,
  modelError,
  open,
  type Response,
  says,
  settle,
  takeToEnd,
  tools,
} from "./support.ts"

const shutdown = { type: "shutdown" } as const
const interrupt = { type: "interrupt" } as const
const hanging = Stream.concat(Stream.fromArray([delta("x")]), Stream.never)
const call = (name: string): Response => [done(callItem(name, "1")), completed]

/** Runs one turn, applies an action to it and closes the conversation; returns the turn's events in order. */
const turnOf = Effect.fnUntraced(function* (
  response: Response,
  act: (conversation: Conversation) => Effect.Effect<unknown, unknown>,
) {
  const { conversation, listener, close } = yield* open([response], {
    tools: tools({ hang: () => Effect.never, ok: () => Effect.succeed("ok") }),
  })
  const seen = yield* Effect.forkChild(takeToEnd(listener))
  yield* conversation.submit(says("hi"), { id: "t" })
  yield* act(conversation)
  yield* settle
  yield* close
  const events = durableOf(yield* Fiber.join(seen))
  assert.deepStrictEqual(
    events.map(({ seq }) => seq),
    events.map((_, i) => i),
  )
  assert.deepStrictEqual(endings(events, "t").after, [])
  return events.filter(({ id }) => id === "t").map(({ msg }) => msg)
})

const aborted: EventMsg = { type: "turn_aborted", reason: "interrupted" }
const complete = (last_agent_message: string | null): EventMsg => ({
  type: "task_complete",
  last_agent_message,
})
const terminal = (messages: ReadonlyArray<EventMsg>) =>
  messages.filter(({ type }) => ["error", "task_complete", "turn_aborted"].includes(type))

const cases: ReadonlyArray<
  readonly [
    string,
    Response,
    (conversation: Conversation) => Effect.Effect<unknown, unknown>,
    ReadonlyArray<EventMsg>,
  ]
> = [
  ["success", answer("yes"), () => settle, [complete("yes")]],
  [
    "a model that fails",
    Stream.fail(modelError({ retryable: false })),
    () => settle,
    [{ type: "error", message: "boom" }, complete(null)],
  ],
  [
    "a model that dies",
    Stream.die(new Error("secret")),
    () => settle,
    [{ type: "error", message: "internal error; the turn died unexpectedly" }, complete(null)],
  ],
  [
    "a model that throws",
    () => {
      throw new Error("secret")
    },
    () => settle,
    [{ type: "error", message: "internal error; the turn died unexpectedly" }, complete(null)],
  ],
  ["a model that interrupts itself", Stream.fromEffect(Effect.interrupt), () => settle, [aborted]],
  [
    "interrupt while the model speaks",
    hanging,
    (c) => Effect.andThen(settle, c.submit(interrupt)),
    [aborted],
  ],
  ["interrupt before the first model event", hanging, (c) => c.submit(interrupt), [aborted]],
  ["cancel before the first model event", hanging, (c) => c.cancel("t"), [aborted]],
  [
    "interrupt while a tool hangs",
    call("hang"),
    (c) => Effect.andThen(settle, c.submit(interrupt)),
    [aborted],
  ],
  [
    "two cancels and an interrupt",
    call("hang"),
    (c) => Effect.all([settle, c.cancel("t"), c.cancel("t"), c.submit(interrupt)]),
    [aborted],
  ],
  ["scope close while the model never ends", hanging, () => settle, [aborted]],
  ["scope close at once", hanging, () => Effect.void, [aborted]],
  ["scope close while a tool hangs", call("hang"), () => settle, [aborted]],
  [
    "shutdown while the model never ends",
    hanging,
    (c) => Effect.andThen(settle, c.submit(shutdown)),
    [aborted],
  ],
  ["shutdown at once", answer("yes"), (c) => c.submit(shutdown), [aborted]],
  [
    "shutdown after an interrupt",
    call("hang"),
    (c) => Effect.all([settle, c.submit(interrupt), c.submit(shutdown)]),
    [aborted],
  ],
  [
    "shutdown after success",
    answer("yes"),
    (c) => Effect.andThen(settle, c.submit(shutdown)),
    [complete("yes")],
  ],
]

describe("the end of a turn", () => {
  for (const [name, response, act, expected] of cases) {
    it.effect(`L5 is delivered once and last: ${name}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(terminal(yield* turnOf(response, act)), expected)
      }),
    )
  }

  it.effect(
    "L5 L14 is delivered within a second and the grace when a tool does not stop as its scope closes",
    () =>
      Effect.gen(function* () {
        const stopped = yield* Deferred.make<void>()
        const { conversation, listener, close } = yield* open([call("stubborn")], {
          tools: tools({
            stubborn: () => Effect.onInterrupt(Effect.never, () => Deferred.await(stopped)),
          }),
        })
        yield* conversation.submit(says("hi"), { id: "t" })
        yield* settle
        const seen = yield* Effect.forkChild(takeToEnd(listener))
        const closing = yield* Effect.forkChild(close, { startImmediately: true })
        yield* settle
        assert.isUndefined(seen.pollUnsafe())
        yield* TestClock.adjust("1499 millis")
        assert.isUndefined(seen.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        const events = eventsOf(yield* Fiber.join(seen))
        assert.deepStrictEqual(
          events.slice(-2).map(({ msg }) => msg),
          [aborted, { type: "shutdown_complete" }],
        )
        assert.deepStrictEqual(endings(events, "t"), { terminal: ["turn_aborted"], after: [] })
        // Processes that the tool started may still run, so closing the scope waits for the tool to stop.
        assert.isUndefined(closing.pollUnsafe())
        yield* Deferred.succeed(stopped, undefined)
        yield* Fiber.join(closing)
      }),
  )

  it.effect("drops what a tool emits after its turn", () =>
    Effect.gen(function* () {
      let say: Effect.Effect<void> = Effect.void
      const { conversation, listener, close } = yield* open([call("talk"), answer("ok")], {
        tools: tools({
          talk: (_, { emit }) =>
            Effect.sync(() => {
              say = emit({ type: "background_event", message: "late" })
              return "out"
            }),
        }),
      })
      yield* conversation.submit(says("hi"), { id: "t" })
      yield* settle
      yield* say
      yield* settle
      yield* close
      yield* say
      const events = eventsOf(yield* takeToEnd(listener))
      assert.deepStrictEqual(endings(events, "t"), { terminal: ["task_complete"], after: [] })
      assert.isFalse(events.some(({ msg }) => msg.type === "background_event"))
    }),
  )
})

describe("the end of a conversation", () => {
  it.effect("resolves every call that waits for its inbox", () =>
    Effect.gen(function* () {
      const { conversation, listener, close } = yield* open([hanging])
      yield* conversation.submit(says("hi"), { id: "t" })
      const calls = yield* Effect.forEach(Array.from({ length: 300 }), (_, i) =>
        Effect.forkChild(
          Effect.exit(
            i % 3 === 0
              ? Effect.as(conversation.cancel("nobody"), undefined)
              : conversation.submit(says("x"), { whileRunning: i % 3 === 1 ? "wait" : "queue" }),
          ),
          { startImmediately: true },
        ),
      )
      yield* close
      const exits = yield* Fiber.joinAll(calls)
      assert.strictEqual(exits.length, 300)
      const events = durableOf(yield* takeToEnd(listener))
      for (const exit of exits) {
        if (Exit.isFailure(exit) || exit.value === undefined) continue
        if (exit.value.disposition !== "waiting") continue
        assert.deepStrictEqual(endings(events, exit.value.id), {
          terminal: ["turn_aborted"],
          after: [],
        })
      }
      assert.deepStrictEqual(events.at(-1)?.msg, { type: "shutdown_complete" })
    }),
  )

  it.effect("resolves the callers that wait for room in the inbox of an idle one", () =>
    Effect.gen(function* () {
      const { conversation, close } = yield* open([])
      const calls = yield* Effect.forEach(Array.from({ length: 300 }), () =>
        Effect.forkChild(Effect.exit(conversation.submit(interrupt)), { startImmediately: true }),
      )
      yield* close
      const refused = Exit.fail(new ConversationClosed())
      assert.deepStrictEqual(
        yield* Fiber.joinAll(calls),
        calls.map(() => refused),
      )
    }),
  )

  it.effect("refuses submissions, ignores cancel and still replays to listeners", () =>
    Effect.gen(function* () {
      const { conversation, listener, close } = yield* open([answer("yes")])
      const receipt = yield* conversation.submit(shutdown, { id: "bye" })
      assert.deepStrictEqual(receipt, { id: "bye", disposition: "none" })
      const seen = yield* takeToEnd(listener)
      assert.deepStrictEqual(eventsOf(seen).at(-1), {
        seq: 2,
        id: "bye",
        msg: { type: "shutdown_complete" },
      })
      assert.deepStrictEqual(
        yield* Effect.exit(conversation.submit(says("hi"))),
        Exit.fail(new ConversationClosed()),
      )
      yield* conversation.cancel("0")
      yield* close
      const late = yield* conversation.attach({ from: 1 })
      assert.deepStrictEqual(
        eventsOf(yield* takeToEnd(late)).map(({ seq }) => seq),
        [1, 2],
      )
    }),
  )

  it.effect("does not wait when its scope closes after a shutdown", () =>
    Effect.gen(function* () {
      const { conversation, close } = yield* open([answer("yes")])
      yield* Effect.all([Effect.exit(conversation.submit(shutdown)), close], {
        concurrency: "unbounded",
      })
    }),
  )

  it.effect("reports the id of the shutdown after the end of the running turn", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* open([hanging])
      yield* conversation.submit(says("hi"), { id: "t" })
      yield* conversation.submit(shutdown, { id: "bye" })
      const events = eventsOf(yield* takeToEnd(listener))
      assert.deepStrictEqual(
        events.slice(-2).map(({ id, msg }) => [id, msg.type]),
        [
          ["t", "turn_aborted"],
          ["bye", "shutdown_complete"],
        ],
      )
    }),
  )
})
