import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import type { Op } from "@colloquy/protocol/Op"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Conversation } from "../src/Conversation.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import { type ConversationSettings, SettingsResolver } from "../src/ConversationSettings.ts"
import type { Delivery } from "../src/listeners/Delivery.ts"
import { itemsOf } from "../src/log/Items.ts"
import { reviewInstructionsOf } from "../src/review/ReviewInstructions.ts"
import { withStored } from "../src/store/Settings.ts"
import { observed } from "./stores.ts"
import {
  answer,
  assistantItem,
  callItem,
  completed,
  delta,
  done,
  durableOf,
  isEnd,
  managerLayer,
  modelError,
  type Response,
  says,
  scripted,
  settings,
  settle,
  takeUntil,
  tools,
  userItem,
} from "./support.ts"

const review: Op = {
  type: "review",
  review_request: { prompt: "Review all of it.", user_facing_hint: "current changes" },
}

const output = {
  findings: [
    {
      title: "T",
      body: "B",
      confidence_score: 0.5,
      priority: 1,
      code_location: { absolute_file_path: "/w/a", line_range: { start: 1, end: 1 } },
    },
  ],
  overall_correctness: "patch is incorrect",
  overall_explanation: "one fault",
  overall_confidence_score: 0.9,
}
const text = "one fault\n\nReview comment:\n\n- T — /w/a:1-1\n  B"

const hanging: Response = Stream.concat(Stream.fromArray([delta('{"find')]), Stream.never)

const looking: Response = [done(assistantItem("I look.")), done(callItem("look", "c")), completed]

const eventsOf = (conversation: Conversation): Effect.Effect<ReadonlyArray<Event>, unknown> =>
  Effect.scoped(
    Effect.flatMap(conversation.attach({ from: 0 }), (listener) =>
      Effect.map(
        takeUntil(listener, ({ _tag }) => _tag === "Synced"),
        durableOf,
      ),
    ),
  )

const ofTurn = (log: ReadonlyArray<Event>, turnId: string): ReadonlyArray<EventMsg> =>
  log.flatMap(({ id, msg }) => (id === turnId ? [msg] : []))

const isEndOf = (id: string) => (delivery: Delivery) =>
  isEnd(delivery) && delivery._tag === "Event" && delivery.event.id === id

const kinds = (messages: ReadonlyArray<EventMsg>) =>
  messages.flatMap(({ type }) => (type === "raw_response_item" ? [] : [type]))

/** Runs `body` with a conversation of a process whose model responds with these. */
const withConversation = <A, E>(
  responses: ReadonlyArray<Response>,
  body: (
    conversation: Conversation,
    requests: ReturnType<typeof scripted>["requests"],
  ) => Effect.Effect<A, E, Scope.Scope>,
) => {
  const script = scripted(...responses)
  const looks = tools({ look: () => Effect.succeed("seen"), wait: () => Effect.never })
  return Effect.scoped(
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      return yield* body(yield* manager.create(settings), script.requests)
    }),
  ).pipe(Effect.provide(managerLayer(script, { tools: looks })))
}

describe("a review", () => {
  it.effect("is a turn with its own instructions, whose answer becomes findings and a text", () =>
    withConversation(
      [looking, answer(JSON.stringify(output)), answer("later")],
      (conversation, requests) =>
        Effect.gen(function* () {
          const listener = yield* conversation.attach({ from: 0 })
          const receipt = yield* conversation.submit(review, { id: "r" })
          assert.deepStrictEqual(receipt, { id: "r", disposition: "started" })
          const live = yield* takeUntil(listener, isEndOf("r"))
          assert.isFalse(
            live.some((one) => one._tag === "Event" && one.event.msg.type.endsWith("_delta")),
          )
          const log = ofTurn(yield* eventsOf(conversation), "r")
          assert.deepStrictEqual(kinds(log), [
            "task_started",
            "entered_review_mode",
            "user_message",
            "agent_message",
            "token_count",
            "token_count",
            "exited_review_mode",
            "agent_message",
            "task_complete",
          ])
          assert.deepInclude(log, {
            type: "entered_review_mode",
            prompt: "Review all of it.",
            user_facing_hint: "current changes",
          })
          assert.deepInclude(log, { type: "exited_review_mode", review_output: output })
          assert.deepInclude(log, { type: "task_complete", last_agent_message: text })
          assert.strictEqual(requests[0]?.instructions, reviewInstructionsOf(settings))
          assert.deepStrictEqual(requests[0]?.input.at(-1), userItem("Review all of it."))
          yield* conversation.submit(says("go on"), { id: "next" })
          yield* takeUntil(listener, isEndOf("next"))
          const after = requests.at(-1)
          assert.notStrictEqual(after?.instructions, reviewInstructionsOf(settings))
          assert.deepStrictEqual(after?.input.slice(-2), [assistantItem(text), userItem("go on")])
        }),
    ),
  )

  it.effect("shows the same items live and from the log, in order", () =>
    withConversation([answer("all is well")], (conversation) =>
      Effect.gen(function* () {
        const listener = yield* conversation.attach({ from: 0 })
        yield* conversation.submit(review, { id: "r" })
        yield* takeUntil(listener, isEndOf("r"))
        const items = itemsOf(yield* eventsOf(conversation))
        assert.deepStrictEqual(
          items.map((item) => [item.id, item.status, "text" in item ? item.text : ""]),
          [
            ["r/review_start/0", "completed", "current changes"],
            ["r/user_message/0", "completed", "current changes"],
            ["r/review_end/0", "completed", "all is well"],
            ["r/agent_message/0", "completed", "all is well"],
          ],
        )
      }),
    ),
  )

  it.effect.each([
    ["is interrupted", hanging, "turn_aborted", { type: "interrupt" } as const],
    ["fails", Stream.fail(modelError({ retryable: false })), "task_complete", undefined],
    ["gets no answer", [completed], "task_complete", undefined],
  ] as const)("L5 ends before its terminal event when it %s", ([, response, last, op]) =>
    withConversation([response], (conversation) =>
      Effect.gen(function* () {
        const listener = yield* conversation.attach({ from: 0 })
        yield* conversation.submit(review, { id: "r" })
        yield* settle
        if (op !== undefined) yield* conversation.submit(op)
        yield* takeUntil(listener, isEndOf("r"))
        const log = ofTurn(yield* eventsOf(conversation), "r")
        assert.strictEqual(log.at(-1)?.type, last)
        assert.deepStrictEqual(
          log.filter(({ type }) => type === "exited_review_mode"),
          [{ type: "exited_review_mode", review_output: null }],
        )
        assert.isFalse(log.some(({ type }) => type === "agent_message"))
      }),
    ),
  )

  it.effect("waits for a running turn, accepts no input, and keeps later input waiting", () =>
    withConversation([hanging, hanging, answer("later")], (conversation) =>
      Effect.gen(function* () {
        const listener = yield* conversation.attach({ from: 0 })
        yield* conversation.submit(says("first"), { id: "first" })
        const queued = yield* conversation.submit(review, { id: "r" })
        assert.strictEqual(queued.disposition, "waiting")
        yield* conversation.cancel("first")
        yield* takeUntil(listener, isEndOf("first"))
        yield* settle
        const steered = yield* Effect.flip(
          conversation.submit(says("x"), { whileRunning: "steer" }),
        )
        assert.strictEqual(steered.message, "turn `r` is a review and accepts no input")
        const later = yield* conversation.submit(says("later"), { id: "later" })
        assert.strictEqual(later.disposition, "waiting")
        yield* conversation.cancel("r")
        yield* takeUntil(listener, isEndOf("later"))
      }),
    ),
  )
})

/** Returns the stored settings with the current provider, or the current settings where none are stored. */
const resolver = Layer.succeed(SettingsResolver, {
  resolve: ({ stored }) =>
    Effect.succeed(stored === undefined ? settings : withStored(settings, stored)),
})

/** A manager over the store, as one process has it. Its scope is never closed, as when a process is killed. */
const processOver = Effect.fnUntraced(function* (
  store: ReturnType<typeof observed>,
  ...responses: ReadonlyArray<Response>
) {
  yield* TestClock.adjust(0)
  const script = scripted(...responses)
  const services = yield* Layer.buildWithScope(
    Layer.fresh(managerLayer(script, { store: store.layer, resolver })),
    yield* Scope.make(),
  )
  return { manager: Context.get(services, ConversationManager), requests: script.requests }
})

/** Submits the ops in a process that is killed then, and loads the conversation in a process whose model gives this answer. */
const killedAfter = Effect.fnUntraced(function* (
  ops: ReadonlyArray<Op>,
  given: ConversationSettings,
  next: Response,
) {
  const store = observed()
  const one = yield* processOver(store, hanging)
  const made = yield* one.manager.create(given)
  for (const op of ops) yield* made.submit(op, { id: op.type, whileRunning: "wait" })
  yield* settle
  const left = observed()
  const { meta } = yield* store.inner.metadata({ id: made.id })
  yield* Effect.scoped(left.inner.create(meta, store.records(made.id)))
  const two = yield* processOver(left, next)
  const conversation = yield* two.manager.get(made.id)
  yield* settle
  return { log: ofTurn(yield* eventsOf(conversation), "review"), requests: two.requests }
})

const restarted = { ...settings, onRestart: "continue" } as const

describe("a review and the end of the process", () => {
  it.effect("L11 a review that a crash cut off is aborted, after its end", () =>
    Effect.gen(function* () {
      const { log, requests } = yield* killedAfter([review], settings, answer("unused"))
      assert.deepStrictEqual(kinds(log).slice(-2), ["exited_review_mode", "turn_aborted"])
      assert.deepStrictEqual(requests, [])
    }),
  )

  it.effect("L10 a review that waits is run after a restart", () =>
    Effect.gen(function* () {
      const { log } = yield* killedAfter([says("first"), review], settings, answer("fine"))
      assert.include(kinds(log), "entered_review_mode")
      assert.deepStrictEqual(log.at(-1), { type: "task_complete", last_agent_message: "fine" })
    }),
  )

  it.effect("L11 a review that is resumed after a restart is still one", () =>
    Effect.gen(function* () {
      const { log, requests } = yield* killedAfter([review], restarted, answer("fine"))
      assert.strictEqual(requests[0]?.instructions, reviewInstructionsOf(settings))
      assert.deepStrictEqual(kinds(log).slice(-3), [
        "exited_review_mode",
        "agent_message",
        "task_complete",
      ])
    }),
  )
})
