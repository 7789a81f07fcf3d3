/** The question whether a call that may have taken effect runs again, over processes that are killed one after the other. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { exec } from "./approvals.ts"
import {
  calls,
  continued,
  cutOff,
  hanging,
  killed,
  logOf,
  processOver,
  replaying,
} from "./restarts.ts"
import { observed } from "./stores.ts"
import { answer, isEnd, outputItem, says, scripted, settle, takeUntil } from "./support.ts"

/** Questions and verdicts of a log, in order: the type, the id of the call and, for a verdict, what was decided and why. */
const questionsOf = (log: ReadonlyArray<{ readonly msg: EventMsg }>) =>
  log.flatMap(({ msg }) =>
    msg.type === "exec_approval_request"
      ? [`asked ${msg.call_id}`]
      : msg.type === "approval_resolved"
        ? [`${msg.call_id} ${msg.decision} ${msg.reason}`]
        : [],
  )

/** A tool of class `ask` that notes the ids under which it runs, and never ends. */
const noting = (runs: Array<string>) =>
  replaying("ask", ({ call_id }) =>
    Effect.suspend(() => {
      runs.push(call_id ?? "")
      return Effect.never
    }),
  )

type Store = ReturnType<typeof observed>

/** Starts the process that follows, and waits until the turn has done what it does without an answer. */
const restarted = Effect.fnUntraced(function* (
  store: Store,
  id: ConversationId,
  runtime: ReturnType<typeof replaying>,
  script = hanging(),
) {
  const conversation = yield* (yield* processOver(store, script, runtime)).get(id)
  yield* settle
  return conversation
})

const answered = (id: string, decision: ReviewDecision) =>
  ({ type: "exec_approval", id, decision }) as const

const refusedOutput = outputItem(
  "c",
  "the process ended while this call ran; it was interrupted, and whether it took effect is unknown; running it again was not approved",
)

describe("the question whether a call runs again", () => {
  it.effect("L7 has an id of its own each time, so that each is resolved once", () =>
    Effect.gen(function* () {
      for (const decision of ["approved", "approved_for_session"] as const) {
        const { id, left } = yield* cutOff("ask", { unattended: "park" })
        const runs: Array<string> = []
        const work = noting(runs)
        const second = yield* restarted(left, id, work)
        yield* second.submit(answered("c", decision))
        yield* settle
        const third = yield* restarted(yield* killed(left, id), id, work)
        if (decision === "approved") yield* third.submit(answered("c-2", decision))
        yield* settle
        assert.deepStrictEqual(
          questionsOf(yield* logOf(third)),
          decision === "approved"
            ? ["asked c", "c approved answered", "asked c-2", "c-2 approved answered"]
            : ["asked c", "c approved_for_session answered", "c-2 approved granted"],
        )
        // Each attempt has an id that no question has.
        assert.deepStrictEqual(runs, ["c-2", "c-3"])
      }
    }),
  )

  it.effect("L7 has another id than what the tool asks when it runs again", () =>
    Effect.gen(function* () {
      const { id, left } = yield* cutOff("ask", { unattended: "park" })
      const asking = replaying("ask", ({ call_id }, { approve }) =>
        Effect.map(approve(exec(call_id ?? "")), ({ decision }) => decision),
      )
      const conversation = yield* restarted(left, id, asking, scripted(answer("end")))
      const listener = yield* conversation.attach()
      yield* conversation.submit(answered("c", "approved"))
      yield* settle
      yield* conversation.submit(answered("c-2", "denied"))
      yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(questionsOf(yield* logOf(conversation)), [
        "asked c",
        "c approved answered",
        "asked c-2",
        "c-2 denied answered",
      ])
    }),
  )

  it.effect("L7 decides also when it is answered after one more restart", () =>
    Effect.gen(function* () {
      for (const decision of ["denied", "approved"] as const) {
        const { id, left } = yield* cutOff("ask", { unattended: "park" })
        const runs: Array<string> = []
        const work = noting(runs)
        yield* restarted(left, id, work)
        const once = yield* killed(left, id)
        yield* restarted(once, id, work)
        const script = scripted(answer("end"))
        const conversation = yield* restarted(yield* killed(once, id), id, work, script)
        const listener = yield* conversation.attach()
        yield* conversation.submit(answered("c", decision))
        if (decision === "denied") yield* takeUntil(listener, isEnd)
        else yield* settle
        assert.deepStrictEqual(runs, decision === "denied" ? [] : ["c-2"])
        assert.deepStrictEqual(questionsOf(yield* logOf(conversation)), [
          "asked c",
          `c ${decision} answered`,
        ])
        if (decision === "approved") continue
        assert.deepStrictEqual(script.requests[0]?.input.at(-1), refusedOutput)
      }
    }),
  )

  it.effect("L7 L10 is not asked again once its answer is recorded", () =>
    Effect.gen(function* () {
      for (const decision of ["denied", "approved"] as const) {
        const { id, left } = yield* cutOff("ask", { unattended: "park" })
        const runs: Array<string> = []
        const work = noting(runs)
        const second = yield* restarted(left, id, work)
        yield* second.submit(answered("c", decision))
        yield* settle
        const records = left.records(id)
        const count = records.findIndex(
          (record) => record._tag === "Event" && record.event.msg.type === "approval_resolved",
        )
        runs.length = 0
        const script = scripted(answer("end"))
        const store = yield* killed(left, id, count + 1)
        const third = yield* restarted(store, id, work, script)
        yield* settle
        assert.deepStrictEqual(questionsOf(yield* logOf(third)), [
          "asked c",
          `c ${decision} answered`,
        ])
        assert.deepStrictEqual(runs, decision === "denied" ? [] : ["c-2"])
        if (decision === "denied") {
          assert.deepStrictEqual(script.requests[0]?.input.at(-1), refusedOutput)
        }
      }
    }),
  )

  it.effect("L7 keeps the laws wherever the log is cut off", () =>
    Effect.gen(function* () {
      const { id, left } = yield* cutOff("ask", { unattended: "park" })
      const runs: Array<string> = []
      const second = yield* restarted(left, id, noting(runs))
      yield* second.submit(answered("c", "approved"))
      yield* settle
      const records = left.records(id)
      const start = records.findIndex(({ _tag }) => _tag === "ToolCall")
      for (let count = start + 1; count <= records.length; count++) {
        runs.length = 0
        const third = yield* restarted(yield* killed(left, id, count), id, noting(runs))
        const { open } = (yield* third.state).approvals
        // Either the recorded approval counts, or one question is pending that has not been resolved.
        assert.lengthOf(runs, open.length === 0 ? 1 : 0, `cut at ${count}`)
        for (const { request } of open) yield* third.submit(answered(request.callId, "denied"))
        yield* settle
        const asked = questionsOf(yield* logOf(third))
        const ids = asked.flatMap((text) => (text.startsWith("asked ") ? [text.slice(6)] : []))
        for (const asking of ids) {
          assert.lengthOf(
            asked.filter((text) => text.endsWith(` ${asking}`) || text.startsWith(`${asking} `)),
            2,
            `cut at ${count}: ${asked.join()}`,
          )
        }
        assert.lengthOf(runs, open.length === 0 ? 1 : 0, `cut at ${count}`)
      }
    }),
  )

  it.effect(
    "L7 leaves the question that the call asks in its later attempt pending over a restart",
    () =>
      Effect.gen(function* () {
        const store = observed()
        const begun = replaying("safe", ({ call_id }, { emit }) =>
          Effect.andThen(
            emit({ type: "tool_call_begin", call_id: call_id ?? "", tool: "work", arguments: {} }),
            Effect.never,
          ),
        )
        const first = yield* processOver(store, scripted(calls("work", "c")), begun)
        const made = yield* first.create({ ...continued, unattended: "park" })
        const { id } = made
        yield* made.submit(says("hi"), { id: "t" })
        yield* settle
        const left = yield* killed(store, id)
        const asking = replaying("safe", ({ call_id }, { approve }) =>
          Effect.map(approve(exec(call_id ?? "")), ({ decision }) => decision),
        )
        yield* restarted(left, id, asking)
        const script = scripted(answer("end"))
        const third = yield* restarted(yield* killed(left, id), id, asking, script)
        const listener = yield* third.attach({ answers: true })
        yield* third.submit(answered("c-2", "approved"))
        yield* takeUntil(listener, isEnd)
        assert.deepStrictEqual(questionsOf(yield* logOf(third)), [
          "asked c-2",
          "c-2 approved answered",
        ])
        assert.deepStrictEqual(script.requests[0]?.input.at(-1), outputItem("c", "approved"))
      }),
  )
})
