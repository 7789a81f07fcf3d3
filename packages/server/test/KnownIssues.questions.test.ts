/** Approvals that hang or are cut off: whatever a client does with a question, the call that asks it ends in a known time. */
import type { Verdict } from "@colloquy/core/approvals/Approval"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import {
  asking,
  elicitations,
  exec,
  questionId,
  responses,
  result,
  withdrawn,
  withQuestion,
} from "./support/Asking.ts"
import { cancelled, type Harness } from "./support/Harness.ts"
import { callResult, typesOf } from "./support/Wire.ts"

interface Case {
  readonly capabilities?: unknown
  readonly config?: unknown
  /** What the client does after it was asked, or when it was not asked. */
  readonly does?: (server: Harness) => Effect.Effect<void, never, Scope.Scope>
  /** Time at which the call ends, in milliseconds; it may end neither earlier nor later. */
  readonly bound: number
  readonly verdict: Verdict
  readonly ends: "result" | "error" | "unanswered"
  readonly asked: boolean
}

const second = 1000
const minute = 60 * second
const denied = (reason: Verdict["reason"]): Verdict => ({ decision: "denied", reason })
const says = (answer: unknown) => (server: Harness) => server.send(answer)
const answers = (answer: object) => (server: Harness) =>
  server.send({ jsonrpc: "2.0", id: questionId(server), ...answer })
const after =
  (wait: number, then: NonNullable<Case["does"]>): NonNullable<Case["does"]> =>
  (server) =>
    Effect.andThen(TestClock.adjust(wait), then(server))

const cases: Readonly<Record<string, Case>> = {
  "cannot elicit": {
    capabilities: {},
    bound: 0,
    verdict: denied("unattended"),
    ends: "result",
    asked: false,
  },
  "can show addresses alone": {
    capabilities: { elicitation: { url: {} } },
    bound: 0,
    verdict: denied("unattended"),
    ends: "result",
    asked: false,
  },
  "never answers": {
    bound: 10 * minute,
    verdict: denied("expired"),
    ends: "result",
    asked: true,
  },
  "never answers, with a separate deadline": {
    config: { approval_timeout_sec: 90 },
    bound: 90 * second,
    verdict: denied("expired"),
    ends: "result",
    asked: true,
  },
  "answers a minute too late for the usual client": {
    does: after(9 * minute, answers({ result: { decision: "approved" } })),
    bound: 9 * minute,
    verdict: { decision: "approved", reason: "answered" },
    ends: "result",
    asked: true,
  },
  "answers with an error": {
    does: answers({ error: { code: -32601, message: "no such method" } }),
    bound: 0,
    verdict: denied("failed"),
    ends: "result",
    asked: true,
  },
  "answers with an error of no shape": {
    does: answers({ error: "no" }),
    bound: 0,
    verdict: denied("failed"),
    ends: "result",
    asked: true,
  },
  "answers what cannot be read": {
    does: answers({ result: { action: "perhaps" } }),
    bound: 0,
    verdict: denied("malformed"),
    ends: "result",
    asked: true,
  },
  "answers under another id, then never": {
    does: says(result("1", { decision: "approved" })),
    bound: 10 * minute,
    verdict: denied("expired"),
    ends: "result",
    asked: true,
  },
  "cancels the call": {
    does: says(cancelled(2)),
    bound: 0,
    verdict: denied("withdrawn"),
    ends: "unanswered",
    asked: true,
  },
  "closes its end": {
    does: ({ connection }) => connection.close,
    bound: 500,
    verdict: denied("withdrawn"),
    ends: "error",
    asked: true,
  },
}

const isEnded = (server: Harness, { ends }: Case): boolean =>
  ends === "unanswered"
    ? typesOf(server.messages, 2).at(-1) === "turn_aborted"
    : responses(server, 2).length > 0

describe("Known issues: questions to a person", () => {
  it.effect.each(Object.entries(cases))(
    "L7 human approval hangs or is cut off: a client that %s",
    ([, one]) => {
      const { bound, does = () => Effect.void, verdict, ...options } = one
      const asked = asking([exec])
      return withQuestion(
        asked,
        (server) =>
          Effect.gen(function* () {
            assert.strictEqual(elicitations(server).length, one.asked ? 1 : 0)
            const start = yield* Clock.currentTimeMillis
            yield* does(server)
            yield* server.quiet
            const left = bound - ((yield* Clock.currentTimeMillis) - start)
            if (left > 0) {
              yield* TestClock.adjust(left - 1)
              yield* server.quiet
              assert.isFalse(isEnded(server, one), "not before its time")
              yield* TestClock.adjust(1)
              yield* server.quiet
            }
            assert.isTrue(isEnded(server, one), "by then")
            assert.deepStrictEqual(
              asked.verdicts.slice(0, 1),
              [verdict].slice(0, asked.verdicts.length),
            )
            // No question is pending, however much time passes.
            yield* TestClock.adjust("1 hour")
            yield* server.quiet
            const answers = responses(server, 2)
            assert.strictEqual(answers.length, one.ends === "unanswered" ? 0 : 1)
            const [answer] = answers
            assert.strictEqual(answer?.error?.code, one.ends === "error" ? -32000 : undefined)
            if (answer?.result !== undefined) {
              assert.isUndefined(callResult(answer).isError)
              assert.deepStrictEqual(
                answer.result["_meta"],
                one.asked
                  ? undefined
                  : { "colloquy/unattended": [{ call_id: "c", decision: "denied" }] },
              )
              assert.strictEqual(typesOf(server.messages, 2).at(-1), "task_complete")
            }
          }),
        options,
      )
    },
  )

  it.effect("L7 human approval: nothing waits for a client that has disconnected", () => {
    const asked = asking([exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        yield* server.connection.drop
        yield* server.quiet
        yield* TestClock.adjust("4 seconds")
        yield* server.quiet
        assert.isDefined(server.server.pollUnsafe())
        assert.notInclude(
          asked.verdicts.map(({ decision }) => decision),
          "approved",
        )
      }),
    )
  })

  it.effect(
    "L7 human approval: ten unanswered questions of one call take ten deadlines, no more",
    () => {
      const asked = asking(Array.from({ length: 10 }, () => exec))
      return withQuestion(
        asked,
        (server) =>
          Effect.gen(function* () {
            for (let i = 0; i < 10; i++) {
              assert.deepStrictEqual(responses(server, 2), [])
              yield* TestClock.adjust("30 seconds")
              yield* server.quiet
            }
            assert.strictEqual(responses(server, 2).length, 1)
            assert.deepStrictEqual(withdrawn(server), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
            assert.deepStrictEqual(
              asked.verdicts,
              Array.from({ length: 10 }, () => denied("expired")),
            )
          }),
        { config: { approval_timeout_sec: 30 } },
      )
    },
  )
})
