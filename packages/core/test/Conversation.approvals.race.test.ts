import type { Event } from "@colloquy/protocol/EventMsg"
import { simulate } from "@colloquy/simulation/Simulate"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import type { Verdict } from "../src/approvals/Approval.ts"
import { isQuestion, questionId } from "../src/question/ApprovalEvents.ts"
import * as Conversation from "../src/Conversation.ts"
import type { Receipt } from "../src/decider/Receipts.ts"
import type { Listener } from "../src/listeners/Listener.ts"
import { ModelClient } from "../src/ModelClient.ts"
import { ToolRuntime } from "../src/ToolRuntime.ts"
import { exec } from "./approvals.ts"
import {
  answer,
  callItem,
  completed,
  conversationId,
  done,
  durableOf,
  endings,
  says,
  scripted,
  settings,
  takeToEnd,
  tools,
} from "./support.ts"

const deadlineMs = 50

/** Runs a conversation with four questions and random answers; returns its events, verdicts and receipts. */
const race = Effect.gen(function* () {
  const parks = yield* Random.nextBoolean
  const verdicts: Array<readonly [string, Verdict]> = []
  const answers: Array<readonly [string, Exit.Exit<Receipt, unknown>]> = []
  const calls = ["c0", "c1", "c2", "c3"]
  const script = scripted(
    calls
      .slice(0, 2)
      .map((callId) => done(callItem("ask", callId)))
      .concat(completed),
    calls
      .slice(2)
      .map((callId) => done(callItem("ask", callId)))
      .concat(completed),
    answer("end"),
  )
  const scope = yield* Scope.make()
  const conversation = yield* Conversation.make(conversationId, {
    ...settings,
    approvalDeadline: Duration.millis(deadlineMs),
    unattended: parks ? "park" : "deny",
  }).pipe(
    Scope.provide(scope),
    Effect.provideService(ModelClient, script.service),
    Effect.provideService(
      ToolRuntime,
      tools({
        ask: (call, { approve }) => {
          const callId = call.call_id ?? ""
          return Effect.map(approve(exec(callId)), (verdict) => {
            verdicts.push([callId, verdict])
            return verdict.decision
          })
        },
      }),
    ),
  )
  const observed = yield* Effect.forkChild(
    Effect.scoped(Effect.flatMap(conversation.attach({ from: 0 }), takeToEnd)),
    { startImmediately: true },
  )
  const pause = Effect.flatMap(Random.nextIntBetween(0, 40), (n) =>
    Effect.forEach(Array.from({ length: n }), () => Effect.yieldNow, { discard: true }),
  )
  const someTime = Effect.flatMap(Random.nextIntBetween(0, 4), (n) =>
    // 0: at once; 1: early; 2: exactly at the deadline; 3: after the deadline.
    Effect.sleep(Duration.millis([0, 20, deadlineMs, deadlineMs + 1][n] ?? 0)),
  )
  const reply = Effect.fnUntraced(function* (callId: string) {
    const n = yield* Random.nextIntBetween(0, 4)
    const decision =
      (["approved", "denied", "approved_for_session", "abort"] as const)[n] ?? "denied"
    const exit = yield* Effect.exit(
      conversation.submit({ type: "exec_approval", id: callId, decision }),
    )
    answers.push([callId, exit])
  })
  /** Answers some questions after a random time, some of them twice, and detaches after a random number of them. */
  const person = Effect.fnUntraced(function* (listener: Listener) {
    const leavesAfter = yield* Random.nextIntBetween(1, 6)
    for (let asked = 0; asked < leavesAfter;) {
      for (const delivery of yield* listener.take) {
        if (delivery._tag !== "Ask" || !isQuestion(delivery.event.msg)) continue
        asked++
        const id = questionId(delivery.event.msg)
        if (yield* Random.nextBoolean) continue
        yield* someTime
        yield* reply(id)
        if (yield* Random.nextBoolean) yield* reply(id)
      }
    }
  })
  const attended = Effect.andThen(
    pause,
    Effect.exit(
      Effect.scoped(Effect.flatMap(conversation.attach({ from: 0, answers: true }), person)),
    ),
  )
  const people = yield* Effect.forkChild(
    Effect.all([attended, attended, Effect.andThen(someTime, attended)], {
      concurrency: "unbounded",
    }),
  )
  yield* conversation.submit(says("hi"), { id: "t" })
  if ((yield* Random.nextIntBetween(0, 3)) === 0) {
    yield* someTime
    yield* pause
    yield* Effect.exit(conversation.submit({ type: "interrupt" }))
  }
  yield* Effect.sleep("1 second")
  yield* Scope.close(scope, Exit.void)
  yield* Fiber.join(people)
  return { events: durableOf(yield* Fiber.join(observed)), verdicts, answers, parks }
})

/** True when each question is followed by exactly one outcome, before the terminal event of its turn. */
const isOrderly = (events: ReadonlyArray<Event>): boolean => {
  const open = new Set<string>()
  for (const { msg } of events) {
    if (isQuestion(msg)) {
      if (open.has(questionId(msg))) return false
      open.add(questionId(msg))
    } else if (msg.type === "approval_resolved") {
      const stoodAlone = ["unattended", "granted"].includes(msg.reason)
      if (open.delete(msg.call_id) === stoodAlone) return false
    } else if (msg.type === "task_complete" || msg.type === "turn_aborted") {
      if (open.size > 0) return false
    }
  }
  return open.size === 0
}

describe("approvals under any interleaving", () => {
  it("L7 ends each question once, reports its outcome, and accepts at most one answer", () => {
    const reasons = new Set<string>()
    let refused = 0
    for (let seed = 0; seed < 500; seed++) {
      const { exit } = simulate(seed, race)
      if (typeof exit === "string") return assert.fail(`seed ${seed}: ${exit}`)
      if (!Exit.isSuccess(exit)) return assert.fail(`seed ${seed}: ${String(exit.cause)}`)
      const { events, verdicts, answers } = exit.value
      assert.isTrue(isOrderly(events), `seed ${seed}`)
      const outcomes = events.flatMap(({ msg }) => (msg.type === "approval_resolved" ? [msg] : []))
      for (const { reason } of outcomes) reasons.add(reason)
      for (const { call_id } of outcomes) {
        const taken = answers.filter(([id, { _tag }]) => id === call_id && _tag === "Success")
        const answered = outcomes.filter((o) => o.call_id === call_id && o.reason === "answered")
        assert.strictEqual(taken.length, answered.length, `seed ${seed} ${call_id}`)
        assert.isAtMost(answered.length, 1, `seed ${seed} ${call_id}`)
      }
      refused += answers.filter(([, { _tag }]) => _tag === "Failure").length
      for (const [callId, verdict] of verdicts) {
        const outcome = outcomes.find(({ call_id }) => call_id === callId)
        assert.deepStrictEqual<unknown>(
          { decision: outcome?.decision, reason: outcome?.reason },
          verdict,
          `seed ${seed} ${callId}`,
        )
      }
      const { terminal, after } = endings(events, "t")
      assert.deepStrictEqual([terminal.length, after], [1, []], `seed ${seed}`)
      assert.strictEqual(events.at(-1)?.msg.type, "shutdown_complete", `seed ${seed}`)
    }
    // The runs covered every way in which a question can be resolved, including late and second answers.
    assert.deepStrictEqual([...reasons].toSorted(), [
      "answered",
      "expired",
      "granted",
      "shutdown",
      "unattended",
      "withdrawn",
    ])
    assert.isAbove(refused, 100)
  })
})
