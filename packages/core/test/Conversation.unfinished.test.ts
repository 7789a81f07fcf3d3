import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Conversation } from "../src/Conversation.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import { type ConversationSettings, SettingsResolver } from "../src/ConversationSettings.ts"
import type { ModelEvent } from "../src/ModelClient.ts"
import { exec } from "./approvals.ts"
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
  settle,
  takeUntil,
  tools,
  typesOf,
  userItem,
  withRetries,
} from "./support.ts"

const interrupt = { type: "interrupt" } as const

const said = (...texts: ReadonlyArray<string>): Response =>
  Stream.concat(Stream.fromArray(texts.map(delta)), Stream.never)
const breaks = (retryable: boolean, ...texts: ReadonlyArray<string>): Response =>
  Stream.concat(Stream.fromArray(texts.map(delta)), Stream.fail(modelError({ retryable })))

const asking = tools({
  ask: (call, { approve }) =>
    Effect.map(approve(exec(call.call_id ?? "")), ({ decision }) => decision),
  stubborn: () => Effect.onInterrupt(Effect.never, () => Effect.sleep("1 minute")),
})

/** A manager over the store, as one process has it; `end` shuts it down in order. */
const processOver = Effect.fnUntraced(function* (
  store: ReturnType<typeof observed>,
  responses: ReadonlyArray<Response>,
  settings: ConversationSettings,
) {
  yield* TestClock.adjust(0)
  const script = scripted(...responses)
  const scope = yield* Scope.make()
  const resolver = Layer.succeed(SettingsResolver, { resolve: () => Effect.succeed(settings) })
  const services = yield* Layer.buildWithScope(
    Layer.fresh(managerLayer(script, { tools: asking, store: store.layer, resolver })),
    scope,
  )
  return {
    manager: Context.get(services, ConversationManager),
    requests: script.requests,
    end: Effect.flatMap(Effect.forkChild(Scope.close(scope, Exit.void)), (closing) =>
      Effect.andThen(TestClock.adjust("1 minute"), Fiber.join(closing)),
    ),
  }
})

const logOf = (conversation: Conversation): Effect.Effect<ReadonlyArray<Event>, unknown> =>
  Effect.scoped(
    Effect.flatMap(conversation.attach({ from: 0 }), (listener) =>
      Effect.map(
        takeUntil(listener, ({ _tag }) => _tag === "Synced"),
        durableOf,
      ),
    ),
  )

const messagesOf = (events: ReadonlyArray<Event>) =>
  events.flatMap(({ msg }) => (msg.type === "agent_message" ? [msg.message] : []))

interface Case {
  readonly name: string
  readonly responses: ReadonlyArray<Response>
  /** Ends the turn `t`. When absent, the model's response ends it. */
  readonly act?: (conversation: Conversation) => Effect.Effect<unknown, unknown>
  readonly settings?: ConversationSettings
  /** The unfinished text, as a message. Default `partial`. */
  readonly text?: string
  /** Types of the turn's events that follow the message. */
  readonly ends: ReadonlyArray<EventMsg["type"]>
}

const cases: ReadonlyArray<Case> = [
  {
    name: "interrupt",
    responses: [said("par", "tial")],
    act: (conversation) => conversation.submit(interrupt),
    ends: ["turn_aborted"],
  },
  {
    name: "cancel of the submission",
    responses: [said("par", "tial")],
    act: (conversation) => conversation.cancel("t"),
    ends: ["turn_aborted"],
  },
  {
    name: "the decision `abort`",
    responses: [[delta("par"), delta("tial"), done(callItem("ask", "c")), completed]],
    act: (conversation) =>
      conversation.submit({ type: "exec_approval", id: "c", decision: "abort" }),
    ends: ["turn_aborted"],
  },
  {
    name: "input that interrupts",
    responses: [said("par", "tial"), answer("ok")],
    act: (conversation) => conversation.submit(says("now"), { whileRunning: "interrupt" }),
    ends: ["turn_aborted"],
  },
  {
    name: "a provider that fails",
    responses: [breaks(false, "par", "tial")],
    ends: ["error", "task_complete"],
  },
  {
    name: "a provider that fails once more after a retry: the last text counts",
    responses: [breaks(true, "first try"), breaks(true, "par", "tial")],
    settings: withRetries(1),
    ends: ["error", "task_complete"],
  },
  {
    name: "a provider that says nothing when it is asked again",
    responses: [breaks(true, "par", "tial"), breaks(true)],
    settings: withRetries(1),
    ends: ["error", "task_complete"],
  },
  {
    name: "interrupt between two tries",
    responses: [breaks(true, "par", "tial")],
    settings: withRetries(1),
    act: (conversation) => conversation.submit(interrupt),
    ends: ["turn_aborted"],
  },
  {
    name: "interrupt behind a finished message: only what no message repeats",
    responses: [
      Stream.concat(
        Stream.fromArray([delta("one"), done(assistantItem("one")), delta("par"), delta("tial")]),
        Stream.never,
      ),
    ],
    act: (conversation) => conversation.submit(interrupt),
    ends: ["turn_aborted"],
  },
  {
    name: "a model client that fails unexpectedly",
    responses: [
      Stream.concat(Stream.fromArray([delta("partial")]), Stream.die(new Error("secret"))),
    ],
    ends: ["error", "task_complete"],
  },
  {
    name: "interrupt of a tool that does not stop in time",
    responses: [[delta("partial"), done(callItem("stubborn", "c")), completed]],
    act: (conversation) =>
      Effect.andThen(conversation.submit(interrupt), TestClock.adjust("1500 millis")),
    ends: ["turn_aborted"],
  },
]

const passed: ReadonlyArray<EventMsg["type"]> = ["raw_response_item", "agent_message"]

/** Runs the turn `t` to its end; returns the conversation and the deliveries that a listener got. */
const runTurn = Effect.fnUntraced(function* (
  manager: ConversationManager["Service"],
  { act, settings = withRetries(0) }: Case,
) {
  const conversation = yield* manager.create(settings)
  const listener = yield* conversation.attach({ answers: true })
  yield* conversation.submit(says("hi"), { id: "t" })
  yield* settle
  if (act === undefined) yield* TestClock.adjust("1 minute")
  else yield* act(conversation)
  return { conversation, seen: yield* takeUntil(listener, isEnd) }
})

/** The assistant's texts of the next request to the model, in a process that resumes the conversation. */
const resumed = Effect.fnUntraced(function* (
  store: ReturnType<typeof observed>,
  id: ConversationId,
) {
  const { end, manager, requests } = yield* processOver(store, [answer("ok")], withRetries(0))
  const conversation = yield* manager.get(id)
  const log = yield* logOf(conversation)
  const listener = yield* conversation.attach()
  yield* conversation.submit(says("go on"))
  yield* takeUntil(listener, isEnd)
  yield* end
  return { log, input: requests[0]?.input ?? [] }
})

describe("the text of a turn that did not finish", () => {
  for (const one of cases) {
    const text = one.text ?? "partial"
    it.effect(`L4 L11 is delivered, stored and part of the next request: ${one.name}`, () =>
      Effect.gen(function* () {
        const store = observed()
        const settings = one.settings ?? withRetries(0)
        const first = yield* processOver(store, one.responses, settings)
        const { conversation, seen } = yield* runTurn(first.manager, one)
        const { id } = conversation
        // The unfinished text is delivered once, before the events that end the turn.
        const types = typesOf(seen).filter((type) => type !== "approval_resolved")
        assert.deepStrictEqual(types.slice(-2 - one.ends.length), [...passed, ...one.ends])
        assert.deepStrictEqual(messagesOf(durableOf(seen)).at(-1), text)
        assert.strictEqual(messagesOf(durableOf(seen)).filter((m) => m === text).length, 1)
        // The text is part of the next request to the model, in this process and in one that resumes the conversation.
        if (one.name !== "input that interrupts") {
          yield* conversation.submit(says("next"), { id: "next" })
        }
        yield* settle
        const own = first.requests.at(-1)?.input ?? []
        assert.deepInclude(own, assistantItem(text))
        yield* first.end
        const { input, log } = yield* resumed(store, id)
        assert.include(messagesOf(log), text)
        assert.deepInclude(input, assistantItem(text))
        assert.deepStrictEqual(input.at(-1), userItem("go on"))
      }),
    )
  }

  it.effect("L4 L11 reasoning is delivered and stored, and is no part of the next request", () =>
    Effect.gen(function* () {
      const store = observed()
      const thinks: Response = Stream.concat(
        Stream.fromArray<ModelEvent>([
          { _tag: "ReasoningDelta", delta: "one" },
          { _tag: "ReasoningSectionBreak" },
          { _tag: "ReasoningDelta", delta: "two" },
        ]),
        Stream.never,
      )
      const first = yield* processOver(store, [thinks, answer("ok")], withRetries(0))
      const { conversation, seen } = yield* runTurn(first.manager, {
        name: "",
        responses: [],
        act: (one) => one.submit(interrupt),
        ends: [],
      })
      const thoughts: ReadonlyArray<EventMsg["type"]> = ["agent_reasoning", "agent_reasoning"]
      assert.deepStrictEqual(typesOf(seen).slice(-3), [...thoughts, "turn_aborted"])
      yield* first.end
      const { input, log } = yield* resumed(store, conversation.id)
      assert.deepStrictEqual(
        log.flatMap(({ msg }) => (msg.type === "agent_reasoning" ? [msg.text] : [])),
        ["one", "two"],
      )
      assert.isFalse(input.some(({ type }) => type === "reasoning"))
    }),
  )

  it.effect("L4 is recorded at the end of a turn that completes as well", () =>
    Effect.gen(function* () {
      const store = observed()
      const { manager } = yield* processOver(
        store,
        [[delta("par"), delta("tial"), completed]],
        withRetries(0),
      )
      const { seen } = yield* runTurn(manager, { name: "", responses: [], ends: [] })
      assert.deepStrictEqual(typesOf(seen).slice(-3), [...passed, "task_complete"])
    }),
  )

  it.effect("L5 L11 is stored when the server shuts down in the middle of it", () =>
    Effect.gen(function* () {
      const store = observed()
      const first = yield* processOver(store, [said("par", "tial")], withRetries(0))
      const conversation = yield* first.manager.create(withRetries(0))
      const listener = yield* conversation.attach()
      yield* conversation.submit(says("hi"), { id: "t" })
      yield* settle
      yield* first.end
      const seen = yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(typesOf(seen).slice(-3), [...passed, "turn_aborted"])
      const { input } = yield* resumed(store, conversation.id)
      assert.deepStrictEqual(input.slice(-3), [
        userItem("hi"),
        assistantItem("partial"),
        userItem("go on"),
      ])
    }),
  )

  it.effect("is not repeated when the turn finishes, after a retry either", () =>
    Effect.gen(function* () {
      const store = observed()
      const responses = [breaks(true, "par"), answer("whole")]
      const { manager } = yield* processOver(store, responses, withRetries(1))
      const { seen } = yield* runTurn(manager, {
        name: "",
        responses,
        settings: withRetries(1),
        ends: [],
      })
      assert.deepStrictEqual(messagesOf(durableOf(seen)), ["whole"])
    }),
  )
})
