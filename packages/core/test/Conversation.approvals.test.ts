import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { ApprovalRequest, Verdict } from "../src/approvals/Approval.ts"
import { SubmissionRefused } from "../src/ConversationErrors.ts"
import { make } from "../src/Conversation.ts"
import type { ConversationSettings } from "../src/ConversationSettings.ts"
import { ModelClient } from "../src/ModelClient.ts"
import type { Delivery } from "../src/listeners/Delivery.ts"
import { type ToolContext, ToolRuntime } from "../src/ToolRuntime.ts"
import { exec, execGrant, patch, requested, resolved } from "./approvals.ts"
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
  outputItem,
  says,
  scripted,
  settings,
  settle,
  takeToEnd,
  takeUntil,
  tools,
  userItem,
} from "./support.ts"

const verdictText = ({ decision, reason }: Verdict) => `${decision} ${reason}`

/** A conversation whose first request calls `ask` once per request, one after the other. */
const asking = (
  requests: ReadonlyArray<ApprovalRequest>,
  options: {
    readonly settings?: Partial<ConversationSettings>
    readonly tool?: (context: ToolContext) => Effect.Effect<string>
  } = {},
) => {
  let asked = 0
  const tool = ({ approve }: ToolContext) => {
    const request = requests[asked++]
    return request === undefined
      ? Effect.succeed("nothing to ask")
      : Effect.map(approve(request), verdictText)
  }
  return open(
    [[...requests.map(({ callId }) => done(callItem("ask", callId))), completed], answer("end")],
    {
      settings: { ...settings, ...options.settings },
      tools: tools({ ask: (_, context) => (options.tool ?? tool)(context) }),
    },
  )
}

const approvalEvents = (deliveries: ReadonlyArray<Delivery>): ReadonlyArray<EventMsg> =>
  eventsOf(deliveries).flatMap(({ msg }) =>
    [
      "exec_approval_request",
      "apply_patch_approval_request",
      "approval_resolved",
      "turn_aborted",
      "task_complete",
    ].includes(msg.type)
      ? [msg]
      : [],
  )
const complete: EventMsg = { type: "task_complete", last_agent_message: "end" }
const aborted: EventMsg = { type: "turn_aborted", reason: "interrupted" }

const isAsk = ({ _tag }: Delivery) => _tag === "Ask"
const asksIn = (deliveries: ReadonlyArray<Delivery>) =>
  deliveries.flatMap((delivery) => (delivery._tag === "Ask" ? [delivery.event] : []))

const approve = (id: string, decision: Verdict["decision"] = "approved") =>
  ({ type: "exec_approval", id, decision }) as const

describe("approvals of a conversation", () => {
  it.effect("L7 asks the listeners that can answer, and the tool continues with the answer", () =>
    Effect.gen(function* () {
      const { conversation, listener, requests } = yield* asking([exec("c")])
      const person = yield* conversation.attach({ answers: true })
      yield* conversation.submit(says("hi"), { id: "t" })
      const [question] = asksIn(yield* takeUntil(person, isAsk))
      assert.deepStrictEqual([question?.id, question?.msg], ["t", requested("c")])
      assert.deepStrictEqual(yield* conversation.submit(approve("c"), { id: "yes" }), {
        id: "yes",
        disposition: "none",
      })
      const seen = yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(approvalEvents(seen), [
        requested("c"),
        resolved("c", "approved", "answered"),
        complete,
      ])
      assert.deepStrictEqual(asksIn(seen), [])
      assert.deepStrictEqual(requests[1]?.input.slice(1), [
        userItem("hi"),
        callItem("ask", "c"),
        outputItem("c", "approved answered"),
      ])
    }),
  )

  it.effect("L7 accepts the first of two answers and reports it to every listener", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* asking([exec("c")])
      const people = [
        yield* conversation.attach({ answers: true }),
        yield* conversation.attach({ answers: true }),
      ]
      yield* conversation.submit(says("hi"))
      for (const person of people) yield* takeUntil(person, isAsk)
      yield* conversation.submit(approve("c", "denied"))
      assert.deepStrictEqual(
        yield* Effect.exit(conversation.submit(approve("c"))),
        Exit.fail(
          new SubmissionRefused({
            reason: "ClosedApproval",
            message: "the question of call `c` was resolved already: denied (answered)",
          }),
        ),
      )
      for (const each of [listener, ...people]) {
        const outcome = approvalEvents(yield* takeUntil(each, isEnd)).slice(-2)
        assert.deepStrictEqual(outcome, [resolved("c", "denied", "answered"), complete])
      }
    }),
  )

  it.effect("L7 asks no listener that did not declare answers, and decides at once", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* asking([exec("c")])
      yield* conversation.submit(says("hi"))
      const seen = yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(approvalEvents(seen), [
        resolved("c", "denied", "unattended"),
        complete,
      ])
    }),
  )

  it.effect(
    "L7 shows a question that others are asked as an event to a listener that did not declare answers",
    () =>
      Effect.gen(function* () {
        const { conversation, listener } = yield* asking([exec("c")])
        yield* takeUntil(listener, ({ _tag }) => _tag === "Synced")
        const person = yield* conversation.attach({ answers: true })
        yield* conversation.submit(says("hi"))
        yield* takeUntil(person, isAsk)
        yield* settle
        const seen = yield* listener.take
        assert.deepStrictEqual(approvalEvents(seen), [requested("c")])
        assert.deepStrictEqual(asksIn(seen), [])
      }),
  )

  it.effect("L7 denies a question without an answer in ten minutes", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* asking([exec("c")])
      yield* conversation.attach({ answers: true })
      yield* conversation.submit(says("hi"))
      yield* settle
      yield* TestClock.adjust("599 seconds")
      yield* settle
      assert.strictEqual((yield* conversation.state).approvals.open.length, 1)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(approvalEvents(yield* takeUntil(listener, isEnd)), [
        requested("c"),
        resolved("c", "denied", "expired"),
        complete,
      ])
    }),
  )

  it.effect("L7 applies the deadline of the settings to each question separately", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* asking([exec("c"), exec("d")], {
        settings: { approvalDeadline: Duration.seconds(30) },
      })
      yield* conversation.attach({ answers: true })
      yield* conversation.submit(says("hi"))
      yield* settle
      yield* TestClock.adjust("20 seconds")
      yield* conversation.submit(approve("c"))
      yield* settle
      yield* TestClock.adjust("20 seconds")
      yield* settle
      assert.strictEqual((yield* conversation.state).approvals.open[0]?.request.callId, "d")
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(approvalEvents(yield* takeUntil(listener, isEnd)).slice(1, 4), [
        resolved("c", "approved", "answered"),
        requested("d"),
        resolved("d", "denied", "expired"),
      ])
    }),
  )

  it.effect(
    "L7 asks the pending question to a listener that attaches later, after synced, unchanged",
    () =>
      Effect.gen(function* () {
        const { conversation, listener } = yield* asking([exec("b"), exec("c")])
        yield* conversation.attach({ answers: true })
        yield* conversation.submit(says("hi"))
        yield* takeUntil(listener, isType("exec_approval_request"))
        yield* conversation.submit(approve("b"))
        const [event] = eventsOf(yield* takeUntil(listener, isType("exec_approval_request"))).slice(
          -1,
        )
        if (event === undefined) return assert.fail("no question")
        assert.deepStrictEqual(event.msg, requested("c"))
        for (const from of [undefined, 0]) {
          const late = yield* conversation.attach({
            answers: true,
            ...(from === undefined ? {} : { from }),
          })
          const seen = yield* late.take
          assert.deepStrictEqual(seen.slice(-2), [
            { _tag: "Synced", seq: event.seq + 1 },
            { _tag: "Ask", event },
          ])
          assert.strictEqual(asksIn(seen).length, 1)
        }
        const onlooker = yield* conversation.attach()
        assert.deepStrictEqual(yield* onlooker.take, [{ _tag: "Synced", seq: event.seq + 1 }])
      }),
  )

  it.effect("L7 parks a question for the next listener that can answer", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* asking([exec("c")], {
        settings: { unattended: "park" },
      })
      yield* conversation.submit(says("hi"))
      yield* settle
      yield* TestClock.adjust("23 days")
      const person = yield* conversation.attach({ answers: true })
      assert.deepStrictEqual(
        asksIn(yield* takeUntil(person, isAsk)).map(({ msg }) => msg),
        [requested("c")],
      )
      yield* settle
      yield* TestClock.adjust("599 seconds")
      yield* conversation.submit(approve("c"))
      assert.deepStrictEqual(approvalEvents(yield* takeUntil(listener, isEnd)), [
        requested("c"),
        resolved("c", "approved", "answered"),
        complete,
      ])
    }),
  )

  it.effect("L7 starts the deadline of a parked question when a listener is asked", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* asking([exec("c")], {
        settings: { unattended: "park" },
      })
      yield* conversation.submit(says("hi"))
      yield* settle
      const scope = yield* Scope.make()
      yield* Scope.provide(conversation.attach({ answers: true }), scope)
      yield* settle
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(approvalEvents(yield* takeUntil(listener, isEnd)).at(-2), {
        ...resolved("c", "denied", "expired"),
      })
    }),
  )

  it.effect(
    "L7 keeps a question pending for the next listener when the last one that can answer detaches",
    () =>
      Effect.gen(function* () {
        const { conversation, listener } = yield* asking([exec("c"), exec("d")])
        const scope = yield* Scope.make()
        const first = yield* Scope.provide(conversation.attach({ answers: true }), scope)
        yield* conversation.submit(says("hi"))
        yield* takeUntil(first, isAsk)
        yield* Scope.close(scope, Exit.void)
        yield* settle
        const state = yield* conversation.state
        assert.deepStrictEqual(
          [state.approvals.open.length, state.approvals.approvalListeners],
          [1, 0],
        )
        yield* conversation.submit(approve("c"))
        assert.deepStrictEqual(approvalEvents(yield* takeUntil(listener, isEnd)).slice(1), [
          resolved("c", "approved", "answered"),
          resolved("d", "denied", "unattended"),
          complete,
        ])
      }),
  )

  it.effect("L7 grants what was approved for the session, and asks about anything else", () =>
    Effect.gen(function* () {
      const other = { command: ["git", "push", "--force"] }
      const { conversation, listener } = yield* asking([exec("c"), exec("d"), exec("e", other)])
      const person = yield* conversation.attach({ answers: true })
      yield* conversation.submit(says("hi"))
      yield* takeUntil(person, isAsk)
      yield* conversation.submit(approve("c", "approved_for_session"))
      yield* takeUntil(person, isAsk)
      yield* conversation.submit(approve("e", "denied"))
      assert.deepStrictEqual(approvalEvents(yield* takeUntil(listener, isEnd)), [
        requested("c"),
        resolved("c", "approved_for_session", "answered", execGrant),
        resolved("d", "approved", "granted", execGrant),
        { ...requested("e"), ...other },
        resolved("e", "denied", "answered"),
        complete,
      ])
    }),
  )

  it.effect(
    "L7 L14 withdraws the question before the terminal event, whatever stops the turn",
    () =>
      Effect.gen(function* () {
        const stops = [
          [{ type: "interrupt" }, "withdrawn"],
          [{ type: "shutdown" }, "shutdown"],
          [approve("c", "abort"), "abort"],
        ] as const
        for (const [op, how] of stops) {
          const { conversation, listener, close } = yield* asking([exec("c")])
          const person = yield* conversation.attach({ answers: true })
          yield* conversation.submit(says("hi"))
          yield* takeUntil(person, isAsk)
          yield* conversation.submit(op)
          yield* settle
          yield* close
          assert.deepStrictEqual(approvalEvents(yield* takeToEnd(listener)), [
            requested("c"),
            how === "abort" ? resolved("c", "abort", "answered") : resolved("c", "denied", how),
            aborted,
          ])
        }
      }),
  )

  it.effect(
    "L7 denies a question when its scope closes, also to a tool that cannot be interrupted",
    () =>
      Effect.gen(function* () {
        const got = yield* Deferred.make<ReadonlyArray<Verdict>>()
        const { conversation, listener, close } = yield* asking([exec("c")], {
          tool: ({ approve }) =>
            Effect.uninterruptible(
              Effect.gen(function* () {
                const first = yield* approve(exec("c"))
                yield* settle
                // The turn has ended or is about to end, so no further question is put.
                yield* Deferred.succeed(got, [first, yield* approve(exec("d"))])
                return "out"
              }),
            ),
        })
        yield* conversation.attach({ answers: true })
        yield* conversation.submit(says("hi"))
        yield* settle
        yield* close
        const [first, second] = yield* Deferred.await(got)
        assert.deepStrictEqual(first, { decision: "denied", reason: "shutdown" })
        assert.deepStrictEqual(second, { decision: "denied", reason: "shutdown" })
        assert.deepStrictEqual(approvalEvents(yield* takeToEnd(listener)), [
          requested("c"),
          resolved("c", "denied", "shutdown"),
          aborted,
        ])
      }),
  )

  it.effect("L7 withdraws the question of a tool that stops waiting", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* asking([exec("c")], {
        tool: ({ approve, emit }) =>
          Effect.timeoutOption(approve(exec("c")), "5 seconds").pipe(
            Effect.andThen(emit({ type: "background_event", message: "on" })),
            Effect.as("out"),
          ),
      })
      yield* conversation.attach({ answers: true })
      yield* conversation.submit(says("hi"))
      yield* settle
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(
        eventsOf(yield* takeUntil(listener, isType("background_event")))
          .slice(-3)
          .map(({ msg }) => msg),
        [
          requested("c"),
          resolved("c", "denied", "withdrawn"),
          { type: "background_event", message: "on" },
        ],
      )
    }),
  )

  it.effect("L7 survives a restart: pending questions are asked again, grants stay valid", () =>
    Effect.gen(function* () {
      const first = yield* asking([exec("c"), exec("d", { cwd: "/else" })])
      const person = yield* first.conversation.attach({ answers: true })
      yield* first.conversation.submit(says("hi"), { id: "t" })
      yield* takeUntil(person, isAsk)
      yield* first.conversation.submit(approve("c", "approved_for_session"))
      const kept = durableOf([
        ...(yield* takeUntil(first.listener, isType("approval_resolved"))),
        ...(yield* takeUntil(first.listener, isType("exec_approval_request"))),
      ])
      assert.deepStrictEqual(
        kept.map(({ seq }) => seq),
        kept.map((_, i) => i),
      )
      const again = scripted([done(callItem("ask", "e")), completed], answer("end"))
      const conversation = yield* make(conversationId, settings, {
        existing: existing(kept),
      }).pipe(
        Effect.provideService(ModelClient, again.service),
        Effect.provideService(
          ToolRuntime,
          tools({
            ask: (call, { approve }) => {
              const request =
                call.call_id === "d" ? exec("d", { cwd: "/else" }) : exec(call.call_id ?? "")
              return Effect.map(approve(request), verdictText)
            },
          }),
        ),
      )
      const listener = yield* conversation.attach({ from: kept.length, answers: true })
      const [question] = asksIn(yield* takeUntil(listener, isAsk))
      assert.deepStrictEqual(question, kept.at(-1))
      yield* conversation.submit(approve("d"))
      assert.deepStrictEqual(approvalEvents(yield* takeUntil(listener, isEnd)), [
        resolved("d", "approved", "answered"),
        resolved("e", "approved", "granted", execGrant),
        complete,
      ])
      assert.deepStrictEqual(again.requests[0]?.input.slice(2), [
        callItem("ask", "c"),
        outputItem("c", "approved_for_session answered"),
        callItem("ask", "d"),
        outputItem("d", "approved answered"),
      ])
    }),
  )

  it.effect("asks several questions of one turn at the same time", () =>
    Effect.gen(function* () {
      const { conversation, listener, requests } = yield* asking([exec("c")], {
        tool: ({ approve }) =>
          Effect.map(
            Effect.all([approve(exec("c")), approve(patch("p")), approve(exec("c"))], {
              concurrency: "unbounded",
            }),
            (verdicts) => verdicts.map(verdictText).join(", "),
          ),
      })
      yield* conversation.attach({ answers: true })
      yield* conversation.submit(says("hi"))
      yield* settle
      yield* conversation.submit({ type: "patch_approval", id: "p", decision: "denied" })
      yield* conversation.submit(approve("c"))
      yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(
        requests[1]?.input.at(-1),
        outputItem("c", "approved answered, denied answered, denied failed"),
      )
    }),
  )

  it.effect("L6 L7 asks a listener again after it lagged, and not about resolved questions", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* asking([exec("c"), exec("d")])
      const slow = yield* conversation.attach({
        answers: true,
        limits: { maxEvents: 1, maxBytes: 10 },
      })
      yield* takeUntil(slow, ({ _tag }) => _tag === "Synced")
      yield* conversation.submit(says("hi"))
      yield* takeUntil(listener, isType("exec_approval_request"))
      yield* conversation.submit(approve("c"))
      yield* takeUntil(listener, isType("exec_approval_request"))
      const seen = yield* takeUntil(slow, isAsk)
      assert.strictEqual(seen[0]?._tag, "Lagged")
      assert.deepStrictEqual(
        seen.slice(-2).map((d) => (d._tag === "Ask" ? d.event.msg : d._tag)),
        ["Synced", requested("d")],
      )
      assert.strictEqual(asksIn(seen).length, 1)
    }),
  )
})
