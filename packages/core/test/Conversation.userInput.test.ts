import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import type { Op } from "@colloquy/protocol/Op"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { UserInputAnswer, UserInputRequest } from "../src/approvals/Approval.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import type { ConversationSettings } from "../src/ConversationSettings.ts"
import type { Delivery } from "../src/listeners/Delivery.ts"
import { itemsOf } from "../src/log/Items.ts"
import type { ToolContext } from "../src/ToolRuntime.ts"
import { observed } from "./stores.ts"
import {
  answer,
  callItem,
  completed,
  done,
  durableOf,
  eventsOf,
  isEnd,
  managerLayer,
  open,
  outputItem,
  type Response,
  says,
  scripted,
  settings,
  settle,
  takeUntil,
  tools,
} from "./support.ts"

const questions: UserInputRequest["questions"] = [
  {
    id: "colour",
    header: "Colour",
    question: "Which colour?",
    is_other: true,
    is_secret: false,
    options: [{ label: "Red", description: "warm" }],
  },
]

const answers = { colour: { answers: ["Red"] } }
const answering: Op = { type: "user_input_answer", id: "c", response: { answers } }

const ask: Response = [done(callItem("ask", "c")), completed]

/** A tool that asks, records the answers and whether a listener could answer before. */
const asker = (given: Array<UserInputAnswer>, could: Array<boolean>, more = questions) =>
  tools({
    ask: (_, { canRequestInput, requestInput }: ToolContext) =>
      Effect.gen(function* () {
        could.push(yield* canRequestInput)
        const got = yield* requestInput({ callId: "c", questions: more })
        given.push(got)
        return JSON.stringify(got)
      }),
  })

const scene = Effect.fnUntraced(function* (
  more: Partial<ConversationSettings> = {},
  asked = questions,
) {
  const given: Array<UserInputAnswer> = []
  const could: Array<boolean> = []
  const opened = yield* open([ask, answer("end")], {
    settings: { ...settings, ...more },
    tools: asker(given, could, asked),
  })
  return { ...opened, given, could }
})

const isAsk = ({ _tag }: Delivery) => _tag === "Ask"

const messagesOf = (deliveries: ReadonlyArray<Delivery>): ReadonlyArray<EventMsg> =>
  eventsOf(deliveries).flatMap(({ msg }) =>
    msg.type === "request_user_input" || msg.type === "approval_resolved" ? [msg] : [],
  )

const request: EventMsg = { type: "request_user_input", call_id: "c", questions }
const resolved = (
  decision: EventOf<"approval_resolved">["decision"],
  reason: EventOf<"approval_resolved">["reason"],
): EventMsg => ({ type: "approval_resolved", call_id: "c", decision, reason })

const asked = Effect.fnUntraced(function* (more: Partial<ConversationSettings> = {}) {
  const opened = yield* scene(more)
  const person = yield* opened.conversation.attach({ answers: true })
  const watcher = yield* opened.conversation.attach()
  yield* opened.conversation.submit(says("hi"), { id: "t" })
  yield* takeUntil(person, isAsk)
  return { ...opened, watcher }
})

describe("the agent's questions", () => {
  it.effect("L7 are answered once, and only the model gets the answers", () =>
    Effect.gen(function* () {
      const { conversation, could, given, watcher } = yield* asked()
      yield* conversation.submit(answering)
      const late = yield* Effect.flip(conversation.submit(answering))
      assert.strictEqual(
        late.message,
        "the question of call `c` was resolved already: approved (answered)",
      )
      const seen = yield* takeUntil(watcher, isEnd)
      assert.deepStrictEqual(messagesOf(seen), [request, resolved("approved", "answered")])
      assert.deepStrictEqual(given, [{ _tag: "Answered", answers }])
      assert.deepStrictEqual(could, [true])
      const [item] = itemsOf(durableOf(seen)).filter(({ type }) => type === "question")
      assert.deepInclude(item, { kind: "input", subject: { questions }, status: "completed" })
    }),
  )

  it.effect("are declined by a response of null, and the turn continues", () =>
    Effect.gen(function* () {
      const { conversation, given, watcher } = yield* asked()
      yield* conversation.submit({ type: "user_input_answer", id: "c", response: null })
      const seen = yield* takeUntil(watcher, isEnd)
      assert.deepStrictEqual(messagesOf(seen).at(-1), resolved("denied", "answered"))
      assert.deepStrictEqual(given, [{ _tag: "Unanswered", reason: "answered" }])
      assert.deepInclude(eventsOf(seen).at(-1)?.msg, { last_agent_message: "end" })
    }),
  )

  it.effect("L7 are not answered by an approval or a form", () =>
    Effect.gen(function* () {
      const { conversation } = yield* asked()
      for (const op of [
        { type: "exec_approval", id: "c", decision: "approved" },
        { type: "elicitation_answer", id: "c", action: "accept" },
      ] as const) {
        const { message } = yield* Effect.flip(conversation.submit(op))
        assert.match(message, /asks for user_input_answer/)
      }
    }),
  )

  it.effect("L7 are withdrawn with their turn", () =>
    Effect.gen(function* () {
      const { conversation, watcher } = yield* asked()
      yield* conversation.submit({ type: "interrupt" })
      const seen = yield* takeUntil(watcher, isEnd)
      assert.deepStrictEqual(messagesOf(seen).at(-1), resolved("denied", "withdrawn"))
    }),
  )

  it.effect("L7 expire", () =>
    Effect.gen(function* () {
      const { given, watcher } = yield* asked()
      yield* TestClock.adjust("10 minutes")
      yield* takeUntil(watcher, isEnd)
      assert.deepStrictEqual(given, [{ _tag: "Unanswered", reason: "expired" }])
    }),
  )

  it.effect.each([undefined, "approvals"] as const)(
    "L7 are asked of no listener that cannot fill in forms: %s",
    (kinds) =>
      Effect.gen(function* () {
        const { conversation, could, given } = yield* scene({
          unattended: { allow: () => true },
        })
        const listener = yield* conversation.attach(kinds === undefined ? {} : { answers: kinds })
        yield* conversation.submit(says("hi"))
        const seen = yield* takeUntil(listener, isEnd)
        assert.deepStrictEqual(messagesOf(seen), [resolved("denied", "unattended")])
        assert.deepStrictEqual(given, [{ _tag: "Unanswered", reason: "unattended" }])
        assert.deepStrictEqual(could, [false])
      }),
  )

  it.effect("that are too large are asked of nobody", () =>
    Effect.gen(function* () {
      const long = questions.map((one) => ({ ...one, question: "x".repeat(70_000) }))
      const { conversation, given } = yield* scene({}, long)
      const person = yield* conversation.attach({ answers: true })
      yield* conversation.submit(says("hi"))
      assert.isFalse((yield* takeUntil(person, isEnd)).some(isAsk))
      assert.deepStrictEqual(given, [{ _tag: "Unanswered", reason: "failed" }])
    }),
  )
})

const processOver = Effect.fnUntraced(function* (
  store: ReturnType<typeof observed>,
  given: Array<UserInputAnswer>,
  ...responses: ReadonlyArray<Response>
) {
  yield* TestClock.adjust(0)
  const script = scripted(...responses)
  const services = yield* Layer.buildWithScope(
    Layer.fresh(managerLayer(script, { store: store.layer, tools: asker(given, []) })),
    yield* Scope.make(),
  )
  return { manager: Context.get(services, ConversationManager), requests: script.requests }
})

describe("the agent's questions and the end of the process", () => {
  it.effect(
    "L7 stay pending, are asked of whoever attaches, and the answer goes to the model",
    () =>
      Effect.gen(function* () {
        const store = observed()
        const given: Array<UserInputAnswer> = []
        const one = yield* processOver(store, [], ask, Stream.never)
        const made = yield* one.manager.create(settings)
        const person = yield* made.attach({ answers: true })
        yield* made.submit(says("hi"), { id: "t" })
        yield* takeUntil(person, isAsk)
        const left = observed()
        const { meta } = yield* store.inner.metadata({ id: made.id })
        yield* Effect.scoped(left.inner.create(meta, store.records(made.id)))
        const two = yield* processOver(left, given, answer("end"))
        const conversation = yield* two.manager.get(made.id)
        const listener = yield* conversation.attach({ answers: true })
        const [put] = (yield* takeUntil(listener, isAsk)).filter(isAsk)
        assert.deepStrictEqual(put?._tag === "Ask" ? put.event.msg : undefined, request)
        yield* conversation.submit(answering)
        yield* takeUntil(listener, isEnd)
        yield* settle
        assert.deepStrictEqual(given, [{ _tag: "Answered", answers }])
        assert.deepStrictEqual(
          two.requests[0]?.input.at(-1),
          outputItem("c", JSON.stringify(given[0])),
        )
      }),
  )
})
