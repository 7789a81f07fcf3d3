/** The checks of turns that a second caller runs, over traces made by hand: what a check allows, and what it detects. */
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { Event } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import type { Log } from "../src/nodes/Auditor.ts"
import {
  endsAreRecorded,
  errorsHaveCauses,
  receiptsAgree,
  waitsEnd,
} from "../src/nodes/laws/NodeTurnRuns.ts"
import { nodesHistoryOf } from "../src/nodes/NodeHistory.ts"
import type { NodeAction, NodesPlan } from "../src/nodes/NodePlan.ts"
import type { Answer, Entry } from "../src/trace/Trace.ts"

const conversation = "00000000-0000-7000-8000-000000000001" as ConversationId

const plan: NodesPlan = {
  seed: 0,
  nodes: [],
  deadlineMs: 8_000,
  onRestart: "close",
  model: [],
  clients: [],
  faults: [],
}

const event = (seq: number, id: string, type: "task_started" | "task_complete"): Event =>
  type === "task_started"
    ? { seq, id, msg: { type, model_context_window: null } }
    : { seq, id, msg: { type, last_agent_message: null } }

const log: Log = {
  id: conversation,
  archived: false,
  name: undefined,
  forkedFrom: undefined,
  events: [
    event(0, "i0", "task_started"),
    event(1, "i0", "task_complete"),
    event(2, "i1", "task_started"),
    event(3, "i1", "task_complete"),
  ],
}

const violations = (check: typeof waitsEnd, ...trace: ReadonlyArray<Entry>): number =>
  check(
    nodesHistoryOf({ plan, trace, end: "done", steps: 0, logs: new Map([[conversation, log]]) }),
  ).length

const called = (
  action: NodeAction = {
    do: "send",
    node: 0,
    slot: 0,
    text: "u0.",
    id: "i0",
    whileRunning: "wait",
  },
  call = 0,
): Entry => ({ ms: 0, at: "nodeCall", client: "c0", call, conversation, action })

const begins: Entry = { ms: 0, at: "turnRun", call: 0, conversation }

const answered = (value: unknown): Entry => ({
  ms: 1,
  at: "nodeAnswer",
  call: 0,
  conversation,
  tries: 1,
  answer: { is: "ok", value },
})

const ran = (answer: Answer): Entry => ({
  ms: 2,
  at: "turnRan",
  call: 0,
  conversation,
  tries: 1,
  answer,
})

const started = { id: "i0", disposition: "started" }

const ended = (seq: number, type = "task_complete", receipt: unknown = started): Entry =>
  ran({ is: "ok", value: { receipt, end: { seq, type } } })

const failed = (tag: string): Entry => ran({ is: "error", tag })

const closing: Entry = { ms: 3, at: "closing" }

describe("a turn that a second caller runs", () => {
  it("L5 ends with the terminal event that is recorded", () => {
    const check = (...trace: ReadonlyArray<Entry>) =>
      violations(endsAreRecorded, called(), begins, ...trace)
    assert.strictEqual(check(ended(1)), 0)
    assert.strictEqual(check(ended(0, "task_started")), 1, "another event of the turn")
    assert.strictEqual(check(ended(1, "turn_aborted")), 1, "another type")
    assert.strictEqual(check(ended(3)), 1, "the end of another turn")
    assert.strictEqual(check(ended(4)), 1, "an event that is not recorded")
    assert.strictEqual(check(failed("ConversationUnavailable")), 0)
  })

  it("L5 has an end unless its message starts no turn", () => {
    const check = (disposition: string) =>
      violations(
        endsAreRecorded,
        called(),
        begins,
        ran({ is: "ok", value: { receipt: { id: "i0", disposition } } }),
      )
    assert.strictEqual(check("none"), 0)
    assert.strictEqual(check("started"), 1)
  })

  it("L5 is over when the run has come to rest", () => {
    const check = (...trace: ReadonlyArray<Entry>) => violations(waitsEnd, called(), ...trace)
    assert.strictEqual(check(begins, ended(1), closing), 0)
    assert.strictEqual(check(begins, failed("ConversationUnavailable"), closing), 0)
    assert.strictEqual(check(begins, closing, ended(1)), 1)
    assert.strictEqual(check(begins, closing), 1)
    assert.strictEqual(check(closing), 0)
  })

  it("L10 has the receipt that the client got", () => {
    const check = (own: unknown) =>
      violations(receiptsAgree, called(), begins, answered(own), ended(1))
    assert.strictEqual(check(started), 0)
    assert.strictEqual(check({ ...started, disposition: "waiting" }), 1)
    assert.strictEqual(check({ ...started, id: "i1" }), 1)
    assert.strictEqual(violations(receiptsAgree, called(), begins, ended(1)), 0)
  })

  it("L1 is refused only while another turn runs, where the message is to be refused then", () => {
    const rejects: NodeAction = {
      do: "send",
      node: 0,
      slot: 0,
      text: "u0.",
      id: "i0",
      whileRunning: "reject",
    }
    const refused = failed("SubmissionRefused")
    assert.strictEqual(violations(errorsHaveCauses, called(rejects), begins, refused), 0)
    assert.strictEqual(violations(errorsHaveCauses, called(), begins, refused), 1)
  })

  it("L1 finds its conversation unavailable only where a client has archived it", () => {
    const unavailable = failed("ConversationUnavailable")
    const archived = called({ do: "archive", node: 0, slot: 0 }, 1)
    const check = (...trace: ReadonlyArray<Entry>) =>
      violations(errorsHaveCauses, called(), begins, ...trace)
    assert.strictEqual(check(archived, unavailable), 0)
    assert.strictEqual(check(archived, failed("NoSuchConversation")), 1)
    assert.strictEqual(check(archived, failed("ConversationClosed")), 1)
    assert.strictEqual(check(unavailable, archived), 1)
    assert.strictEqual(check(unavailable), 1)
  })

  it("L1 never fails with a defect, or with another error", () => {
    const check = (answer: Entry) => violations(errorsHaveCauses, called(), begins, answer)
    assert.strictEqual(check(ran({ is: "died", message: "boom" })), 1)
    assert.strictEqual(check(ran({ is: "interrupted" })), 1)
    assert.strictEqual(check(failed("NoSuchConversation")), 1)
    assert.strictEqual(check(ended(1)), 0)
  })
})
