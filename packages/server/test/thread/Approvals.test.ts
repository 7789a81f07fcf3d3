import type { ApprovalRequest, Verdict } from "@colloquy/core/approvals/Approval"
import * as FullStore from "@colloquy/testing/FullStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { asking, exec, oneCall } from "../support/Asking.ts"
import { resultOf } from "../support/AppHarness.ts"
import { asked, at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const patch: ApprovalRequest = {
  _tag: "Patch",
  callId: "c",
  changes: { "/workspace/b.txt": { add: { content: "b\n" } } },
}

const networkRule = (action: string) => ({
  applyNetworkPolicyAmendment: { network_policy_amendment: { host: "example.org", action } },
})

/** The answer of a client, what the tool got, and how the item and the turn end. */
const decisions = [
  ["accept", "approved", undefined, "completed"],
  ["acceptForSession", "approved_for_session", undefined, "completed"],
  ["decline", "denied", "declined", "completed"],
  ["cancel", "abort", "declined", "interrupted"],
  [
    { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["make"] } },
    "approved_for_session",
    undefined,
    "completed",
  ],
  [networkRule("deny"), "denied", "declined", "completed"],
  [networkRule("allow"), "denied", "declined", "completed"],
] as const

const decided = (verdicts: ReadonlyArray<Verdict>) => verdicts.map((one) => one.decision)

const command = "item/commandExecution/requestApproval"

describe("approvals", () => {
  for (const [decision, verdict, itemStatus, turnStatus] of decisions) {
    it.effect(`L7 ${JSON.stringify(decision)} is ${verdict}, and the item completes`, () => {
      const { tools, verdicts } = asking([exec])
      return withThreads({ script: oneCall, tools }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const before = app.messages.length
          yield* turn(app, threadId)
          yield* app.quiet
          const request = asked(app, command)
          assert.deepStrictEqual(lines(app, before).slice(5), [
            "thread/status/changed active",
            "item/started commandExecution",
            `? ${command}`,
          ])
          const [item] = told(app, "item/started").slice(-1)
          assert.strictEqual(request.params?.["itemId"], at(item, "item", "id"))
          yield* app.send({ id: request.id, result: { decision } })
          yield* app.quiet
          assert.deepStrictEqual(decided(verdicts), [verdict])
          const resolved = told(app, "serverRequest/resolved")
          assert.deepStrictEqual(resolved, [{ threadId, requestId: request.id }])
          const ended = told(app, "item/completed").find(
            (one) => at(one, "item", "type") === "commandExecution",
          )
          assert.strictEqual(at(ended, "item", "status"), itemStatus ?? "failed")
          assert.strictEqual(at(told(app, "turn/completed"), 0, "turn", "status"), turnStatus)
        }),
      )
    })
  }

  it.effect("an error of the client denies, and the turn goes on", () => {
    const { tools, verdicts } = asking([patch])
    return withThreads({ script: oneCall, tools }, (app) =>
      Effect.gen(function* () {
        yield* turn(app, yield* started(app))
        yield* app.quiet
        const request = asked(app, "item/fileChange/requestApproval")
        yield* app.send({ id: request.id, error: { code: -32601, message: "no" } })
        yield* app.quiet
        assert.deepStrictEqual(decided(verdicts), ["denied"])
        assert.strictEqual(at(told(app, "turn/completed"), 0, "turn", "status"), "completed")
      }),
    )
  })

  it.effect("L7 a pending question is sent to who resumes, and withdrawn from the others", () => {
    const { tools, verdicts } = asking([exec])
    return withThreads({ script: oneCall, tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const other = yield* app.another
        yield* other.ask("hello", "initialize", { clientInfo: { name: "b", version: "1" } })
        const resumed = resultOf(yield* other.ask("resume", "thread/resume", { threadId }))
        assert.deepStrictEqual(at(resumed, "thread", "status"), {
          type: "active",
          activeFlags: ["waitingOnApproval"],
        })
        yield* other.quiet
        const request = asked(other, command)
        yield* other.send({ id: request.id, result: { decision: "accept" } })
        yield* other.quiet
        assert.deepStrictEqual(decided(verdicts), ["approved"])
        assert.deepStrictEqual(told(app, "serverRequest/resolved"), [
          { threadId, requestId: asked(app, command).id },
        ])
        assert.strictEqual(told(other, "turn/completed").length, 1)
      }),
    )
  })

  it.effect(
    "a question whose answer cannot be recorded is asked again, and both are resolved",
    () => {
      const { tools, verdicts } = asking([exec])
      const store = FullStore.make()
      return withThreads({ script: oneCall, tools, store: store.layer }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          yield* turn(app, threadId)
          yield* app.quiet
          const first = asked(app, command)
          store.room = 0
          yield* app.send({ id: first.id, result: { decision: "accept" } })
          yield* app.quiet
          assert.deepStrictEqual(told(app, "serverRequest/resolved"), [])
          store.room = Infinity
          const before = app.messages.length
          yield* app.ask("resume", "thread/resume", { threadId })
          yield* app.quiet
          const second = asked({ messages: app.messages.slice(before) }, command)
          yield* app.send({ id: second.id, result: { decision: "accept" } })
          yield* app.quiet
          assert.deepStrictEqual(decided(verdicts).slice(-1), ["approved"])
          assert.deepStrictEqual(
            told(app, "serverRequest/resolved"),
            [first, second].map(({ id }) => ({ threadId, requestId: id })),
          )
        }),
      )
    },
  )
})
