import type { Event, EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import type { Op } from "@colloquy/protocol/Op"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { Elicitation, ElicitationAnswer } from "../src/approvals/Approval.ts"
import { SubmissionRefused } from "../src/ConversationErrors.ts"
import { make } from "../src/Conversation.ts"
import type { ConversationSettings } from "../src/ConversationSettings.ts"
import { ModelClient } from "../src/ModelClient.ts"
import type { Delivery } from "../src/listeners/Delivery.ts"
import { type ToolContext, ToolRuntime } from "../src/ToolRuntime.ts"
import { exec } from "./approvals.ts"
import {
  answer,
  callItem,
  completed,
  conversationId,
  done,
  durableOf,
  existing,
  eventsOf,
  isEnd,
  isType,
  open,
  says,
  scripted,
  settings,
  settle,
  takeToEnd,
  takeUntil,
  tools,
} from "./support.ts"

const form: Elicitation = {
  server: "files",
  message: "Which one?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } } },
}

/** A conversation whose first request calls a tool that asks once per request, one after the other. */
const asking = Effect.fnUntraced(function* (
  requests: ReadonlyArray<Elicitation> = [form],
  more: Partial<ConversationSettings> = {},
  ask: (context: ToolContext, request: Elicitation) => Effect.Effect<ElicitationAnswer> = (
    { elicit },
    request,
  ) => elicit(request),
) {
  const answers: Array<ElicitationAnswer> = []
  const scene = yield* open([[done(callItem("ask", "c")), completed], answer("end")], {
    settings: { ...settings, ...more },
    tools: tools({
      ask: (_, context) =>
        Effect.as(
          Effect.forEach(requests, (request) =>
            Effect.map(ask(context, request), (given) => void answers.push(given)),
          ),
          "asked",
        ),
    }),
  })
  return { ...scene, answers }
})

const messagesOf = (deliveries: ReadonlyArray<Delivery>): ReadonlyArray<EventMsg> =>
  eventsOf(deliveries).flatMap(({ msg }) =>
    ["elicitation_request", "approval_resolved", "turn_aborted", "task_complete"].includes(msg.type)
      ? [msg]
      : [],
  )
const complete: EventMsg = { type: "task_complete", last_agent_message: "end" }
const aborted: EventMsg = { type: "turn_aborted", reason: "interrupted" }

const requested = (id: string): EventMsg => ({
  type: "elicitation_request",
  server_name: "files",
  id,
  message:
    'Tool server `files` asks: "Which one?"\nThe tool server also wrote what the form says, in quotation marks.',
  requested_schema: form.requestedSchema,
})

const resolved = (
  call_id: string,
  decision: EventOf<"approval_resolved">["decision"],
  reason: EventOf<"approval_resolved">["reason"],
): EventMsg => ({ type: "approval_resolved", call_id, decision, reason })

const isAsk = ({ _tag }: Delivery) => _tag === "Ask"
const asksIn = (deliveries: ReadonlyArray<Delivery>) =>
  deliveries.flatMap((delivery) => (delivery._tag === "Ask" ? [delivery.event] : []))

/** The id of the question. */
const idOf = (event: Event | undefined): string =>
  event?.msg.type === "elicitation_request" ? event.msg.id : "no question"

const fills = (id: string, fields: Partial<Extract<Op, { type: "elicitation_answer" }>>): Op => ({
  type: "elicitation_answer",
  id,
  action: "accept",
  ...fields,
})

const asked = Effect.fnUntraced(function* (...of: Parameters<typeof asking>) {
  const scene = yield* asking(...of)
  const person = yield* scene.conversation.attach({ answers: true })
  yield* scene.conversation.submit(says("hi"), { id: "t" })
  const [question] = asksIn(yield* takeUntil(person, isAsk))
  return { ...scene, person, question, id: idOf(question) }
})

const content = { name: "a.txt" }

describe("questions of tool servers", () => {
  it.effect.each<
    readonly [
      Partial<Extract<Op, { type: "elicitation_answer" }>>,
      ElicitationAnswer,
      "approved" | "denied" | "abort",
    ]
  >([
    [{ content }, { action: "accept", content }, "approved"],
    [{}, { action: "accept" }, "approved"],
    [{ action: "decline", content }, { action: "decline" }, "denied"],
    [{ action: "cancel", content }, { action: "cancel" }, "abort"],
  ])(
    "L7 are put to listeners that can answer; %j is passed on, and the turn continues",
    ([fields, given, decision]) =>
      Effect.gen(function* () {
        const { answers, conversation, id, listener, question } = yield* asked()
        assert.deepStrictEqual([question?.id, question?.msg], ["t", requested(id)])
        assert.strictEqual(id, `elicitation-${question?.seq}`)
        yield* conversation.submit(fills(id, fields))
        const seen = yield* takeUntil(listener, isEnd)
        assert.deepStrictEqual(messagesOf(seen), [
          requested(id),
          resolved(id, decision, "answered"),
          complete,
        ])
        assert.deepStrictEqual(asksIn(seen), [])
        assert.deepStrictEqual(answers, [given])
        assert.deepStrictEqual((yield* conversation.state).approvals.grants, [])
        // The values of the form go to the tool server only and are never recorded.
        assert.notInclude(JSON.stringify(yield* conversation.durableEvents), "a.txt")
        assert.notInclude(JSON.stringify(yield* conversation.state), "a.txt")
      }),
  )

  it.effect("L7 the first of two answers counts, and both listeners are notified", () =>
    Effect.gen(function* () {
      const { answers, conversation, id, person } = yield* asked()
      const other = yield* conversation.attach({ answers: true })
      assert.deepStrictEqual(asksIn(yield* takeUntil(other, isAsk)).map(idOf), [id])
      yield* conversation.submit(fills(id, { action: "decline" }))
      assert.deepStrictEqual(
        yield* Effect.exit(conversation.submit(fills(id, { content }))),
        Exit.fail(
          new SubmissionRefused({
            reason: "ClosedApproval",
            message: `the question of call \`${id}\` was resolved already: denied (answered)`,
          }),
        ),
      )
      for (const listener of [person, other]) {
        assert.deepStrictEqual(messagesOf(yield* takeUntil(listener, isEnd)), [
          resolved(id, "denied", "answered"),
          complete,
        ])
      }
      assert.deepStrictEqual(answers, [{ action: "decline" }])
    }),
  )

  it.effect("L7 are not answered by an approval, and answer none", () =>
    Effect.gen(function* () {
      const { conversation, id } = yield* asked([form], {}, ({ approve, elicit }, request) =>
        Effect.map(
          Effect.all([elicit(request), approve(exec("c"))], { concurrency: "unbounded" }),
          ([given]) => given,
        ),
      )
      yield* settle
      const foreign = (message: string) =>
        Exit.fail(new SubmissionRefused({ reason: "ForeignApproval", message }))
      const wrong: Op = { type: "exec_approval", id, decision: "approved" }
      assert.deepStrictEqual(
        [
          yield* Effect.exit(conversation.submit(wrong)),
          yield* Effect.exit(conversation.submit(fills("c", { content }))),
        ],
        [
          foreign(`the question of call \`${id}\` asks for elicitation_answer, not exec_approval`),
          foreign("the question of call `c` asks for exec_approval, not elicitation_answer"),
        ],
      )
      assert.strictEqual((yield* conversation.state).approvals.open.length, 2)
    }),
  )

  it.effect("L7 are declined at once when no listener can answer, even if a rule approves", () =>
    Effect.gen(function* () {
      for (const unattended of ["deny", { allow: () => true }] as const) {
        const { answers, conversation, listener } = yield* asking([form], { unattended })
        yield* conversation.submit(says("hi"))
        const seen = yield* takeUntil(listener, isEnd)
        const [outcome] = eventsOf(seen).filter(({ msg }) => msg.type === "approval_resolved")
        assert.deepStrictEqual(messagesOf(seen), [
          resolved(`elicitation-${outcome?.seq}`, "denied", "unattended"),
          complete,
        ])
        assert.deepStrictEqual(answers, [{ action: "decline" }])
      }
    }),
  )

  it.effect("L7 are declined when no answer arrives in time", () =>
    Effect.gen(function* () {
      const { answers, id, listener } = yield* asked([form], {
        approvalDeadline: Duration.seconds(30),
      })
      yield* TestClock.adjust("29 seconds")
      yield* settle
      assert.deepStrictEqual(answers, [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(messagesOf(yield* takeUntil(listener, isEnd)).slice(1), [
        resolved(id, "denied", "expired"),
        complete,
      ])
      assert.deepStrictEqual(answers, [{ action: "decline" }])
    }),
  )

  it.effect("L7 are withdrawn with their turn, and by the code that put them", () =>
    Effect.gen(function* () {
      const first = yield* asked()
      yield* first.conversation.submit({ type: "interrupt" })
      assert.deepStrictEqual(messagesOf(yield* takeUntil(first.listener, isEnd)).slice(1), [
        resolved(first.id, "denied", "withdrawn"),
        aborted,
      ])
      const second = yield* asked([form], {}, ({ elicit }, request) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(elicit(request))
          yield* Effect.sleep("5 seconds")
          yield* Fiber.interrupt(fiber)
          return { action: "cancel" } as const
        }),
      )
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(messagesOf(yield* takeUntil(second.listener, isEnd)).slice(1), [
        resolved(second.id, "denied", "withdrawn"),
        complete,
      ])
    }),
  )

  it.effect("L7 end with the conversation", () =>
    Effect.gen(function* () {
      const { close, id, listener } = yield* asked()
      yield* close
      assert.deepStrictEqual(messagesOf(yield* takeToEnd(listener)).slice(1), [
        resolved(id, "denied", "shutdown"),
        aborted,
      ])
    }),
  )

  const big = { name: "x".repeat(64 * 1024) }
  const endless: Record<string, unknown> = {}
  endless["self"] = endless

  it.effect.each([
    ["too large", { content: big }, {}, "malformed"],
    ["no JSON", { content: endless }, {}, "malformed"],
    ["said to be unreadable", { content }, { because: "malformed" }, "malformed"],
    ["an error", { content }, { because: "failed" }, "failed"],
  ] as const)("L7 an answer that is %s declines", ([, fields, options, reason]) =>
    Effect.gen(function* () {
      const { answers, conversation, id, listener } = yield* asked()
      yield* conversation.submit(fills(id, fields), options)
      assert.deepStrictEqual(messagesOf(yield* takeUntil(listener, isEnd)).slice(1), [
        resolved(id, "denied", reason),
        complete,
      ])
      assert.deepStrictEqual(answers, [{ action: "decline" }])
    }),
  )

  it.effect("L7 only forms are put to a listener that can only fill in forms", () =>
    Effect.gen(function* () {
      const { answers, conversation, listener } = yield* asking([form], {}, (context, request) =>
        Effect.andThen(context.approve(exec("c")), context.elicit(request)),
      )
      const approver = yield* conversation.attach({ answers: "approvals" })
      const filler = yield* conversation.attach({ answers: "forms" })
      yield* conversation.submit(says("hi"))
      const [command] = asksIn(yield* takeUntil(approver, isAsk))
      assert.strictEqual(command?.msg.type, "exec_approval_request")
      yield* conversation.submit({ type: "exec_approval", id: "c", decision: "approved" })
      const asks = asksIn(yield* takeUntil(filler, isAsk))
      assert.deepStrictEqual(
        asks.map(({ msg }) => msg.type),
        ["elicitation_request"],
      )
      yield* conversation.submit(fills(idOf(asks[0]), { content }))
      yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(asksIn(yield* takeUntil(approver, isEnd)), [])
      assert.deepStrictEqual(answers, [{ action: "accept", content }])
    }),
  )

  it.effect.each(["deny", "park"] as const)(
    "L7 a form is declined at once when no attached listener fills in forms, also when questions %s",
    (unattended) =>
      Effect.gen(function* () {
        const { answers, conversation, listener } = yield* asking([form], { unattended })
        yield* conversation.attach({ answers: "approvals" })
        yield* conversation.submit(says("hi"))
        assert.deepStrictEqual(
          messagesOf(yield* takeUntil(listener, isEnd)).flatMap((msg) =>
            msg.type === "approval_resolved" ? [msg.reason] : [msg.type],
          ),
          ["unattended", "task_complete"],
        )
        assert.deepStrictEqual(answers, [{ action: "decline" }])
      }),
  )

  it.effect("L7 a parked form waits for a listener that can fill it in", () =>
    Effect.gen(function* () {
      const { answers, conversation, listener } = yield* asking([form], { unattended: "park" })
      yield* conversation.submit(says("hi"))
      yield* settle
      yield* conversation.attach({ answers: "approvals", from: 0 })
      yield* TestClock.adjust("1 hour")
      const filler = yield* conversation.attach({ answers: "forms", from: 0 })
      const [question] = asksIn(yield* takeUntil(filler, isAsk))
      assert.strictEqual(question?.msg.type, "elicitation_request")
      yield* TestClock.adjust("10 minutes")
      yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(answers, [{ action: "decline" }])
    }),
  )

  it.effect(
    "L7 a listener that only fills in forms does not count as one that can answer other questions",
    () =>
      Effect.gen(function* () {
        const verdicts: Array<unknown> = []
        const { conversation, listener } = yield* asking([form], {}, (context) =>
          Effect.map(context.approve(exec("c")), (verdict) => {
            verdicts.push(verdict)
            return { action: "decline" }
          }),
        )
        yield* conversation.attach({ answers: "forms" })
        yield* conversation.submit(says("hi"))
        yield* takeUntil(listener, isEnd)
        assert.deepStrictEqual(verdicts, [{ decision: "denied", reason: "unattended" }])
      }),
  )

  it.effect("a form that is too large is put to no listener", () =>
    Effect.gen(function* () {
      const { answers, conversation, listener } = yield* asking([
        { ...form, message: big.name },
        { ...form, requestedSchema: { type: "object", properties: big } },
        { ...form, requestedSchema: endless },
      ])
      yield* conversation.attach({ answers: true })
      yield* conversation.submit(says("hi"))
      const seen = messagesOf(yield* takeUntil(listener, isEnd))
      assert.deepStrictEqual(
        seen.map((msg) => (msg.type === "approval_resolved" ? msg.reason : msg.type)),
        ["failed", "failed", "failed", "task_complete"],
      )
      assert.deepStrictEqual(
        answers.map(({ action }) => action),
        ["decline", "decline", "decline"],
      )
    }),
  )

  it.effect("L7 several of one turn are pending at the same time, each with its own answer", () =>
    Effect.gen(function* () {
      const { answers, conversation, listener } = yield* asked([form], {}, ({ elicit }, request) =>
        Effect.map(
          Effect.all([elicit(request), elicit(request)], { concurrency: "unbounded" }),
          ([one, two]) => ({ action: "accept", content: { one, two } }),
        ),
      )
      yield* settle
      const ids = (yield* conversation.state).approvals.open.map(({ request }) => request.callId)
      assert.strictEqual(new Set(ids).size, 2)
      yield* conversation.submit(fills(ids[1] ?? "", { content }))
      yield* conversation.submit(fills(ids[0] ?? "", { action: "cancel" }))
      yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(answers, [
        {
          action: "accept",
          content: { one: { action: "cancel" }, two: { action: "accept", content } },
        },
      ])
    }),
  )

  it.effect("L7 one that a crash left pending is resolved when its log is loaded", () =>
    Effect.gen(function* () {
      const { id, listener } = yield* asked()
      const kept = durableOf(yield* takeUntil(listener, isType("elicitation_request")))
      const conversation = yield* make(conversationId, settings, {
        existing: existing(kept),
      }).pipe(
        Effect.provideService(ModelClient, scripted(answer("end")).service),
        Effect.provideService(ToolRuntime, tools()),
      )
      const late = yield* conversation.attach({ from: kept.length, answers: true })
      const seen = yield* late.take
      assert.deepStrictEqual(messagesOf(seen), [resolved(id, "denied", "withdrawn"), aborted])
      assert.deepStrictEqual(asksIn(seen), [])
    }),
  )
})
