import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { OpenQuestions } from "../../src/log/OpenQuestions.ts"
import { requested, resolved } from "../approvals.ts"
import { taskComplete, turnAborted } from "../decisions.ts"

/** Numbers the messages as events of turn `t` and returns the questions that are pending after the last. */
const after = (...messages: ReadonlyArray<EventMsg>) => {
  const questions = new OpenQuestions()
  const events = messages.map((msg, seq) => ({ seq, id: "t", msg }))
  for (const event of events) questions.add(event)
  return { questions, events, open: questions.all().map(({ seq }) => seq) }
}

const patched: EventMsg = { type: "apply_patch_approval_request", call_id: "p", changes: {} }

describe("OpenQuestions", () => {
  it("contains each question until it is resolved, oldest first", () => {
    assert.deepStrictEqual(after().open, [])
    assert.deepStrictEqual(after(requested("c"), patched).open, [0, 1])
    assert.deepStrictEqual(
      after(requested("c"), patched, resolved("c", "denied", "expired")).open,
      [1],
    )
    assert.deepStrictEqual(after(patched, resolved("x", "denied", "unattended")).open, [0])
  })

  it("distinguishes a question from an earlier one of the same call", () => {
    const { questions, events, open } = after(
      requested("c"),
      resolved("c", "denied", "answered"),
      requested("c"),
    )
    assert.deepStrictEqual(open, [2])
    assert.deepStrictEqual(
      events.map((event) => questions.has(event)),
      [false, false, true],
    )
  })

  it("ends the questions of a turn with the turn, and no others", () => {
    for (const { msg } of [taskComplete("t", null), turnAborted("t")]) {
      const { questions } = after(requested("c"), patched)
      questions.add({ seq: 2, id: "waiting", msg })
      assert.strictEqual(questions.all().length, 2)
      questions.add({ seq: 3, id: "t", msg })
      assert.deepStrictEqual(questions.all(), [])
    }
  })
})
