import { assert, describe, it } from "@effect/vitest"
import type { InputRequest } from "../../src/mcp/RequestContext.ts"
import * as Steps from "../../src/tasks/Task.ts"

const minute = 60_000

const begun = (ttlMs: number | null = 10 * minute) =>
  Steps.create({ id: "t", principal: "me", ordinal: 1, ttlMs, pollIntervalMs: 1000 }, 1000)

const form: InputRequest = { method: "elicitation/create", params: { message: "?" } }
const roots: InputRequest = { method: "roots/list" }

const done: Steps.TaskEnd = { _tag: "Result", result: { content: [] } }

describe("Task", () => {
  it("starts at the time of its creation, without questions", () => {
    assert.deepStrictEqual(begun(), {
      id: "t",
      principal: "me",
      ordinal: 1,
      ttlMs: 10 * minute,
      pollIntervalMs: 1000,
      createdAtMs: 1000,
      updatedAtMs: 1000,
      questions: new Map(),
      asked: 0,
      version: 0,
    })
  })

  it("gives every question a unique key, also when the same one is asked again after its answer", () => {
    const [asked, first] = Steps.addQuestions(
      begun(),
      [
        ["name", form],
        ["where", roots],
      ],
      1001,
    )
    const [again, second] = Steps.addQuestions(
      Steps.removeQuestions(asked, first, 1002),
      [["name", form]],
      1003,
    )
    assert.deepStrictEqual([first, second], [["1-name", "2-where"], ["3-name"]])
    assert.deepStrictEqual([...again.questions], [["3-name", form]])
    assert.strictEqual(again.updatedAtMs, 1003)
  })

  it("keeps unanswered questions, and makes no change for unknown keys", () => {
    const [asked] = Steps.addQuestions(
      begun(),
      [
        ["name", form],
        ["where", roots],
      ],
      1001,
    )
    assert.deepStrictEqual(
      [...Steps.removeQuestions(asked, ["1-name", "9-x"], 1002).questions.keys()],
      ["2-where"],
    )
    assert.strictEqual(Steps.removeQuestions(asked, ["9-x"], 1002), asked)
  })

  it("ends once: nothing changes after its end", () => {
    const [asked, keys] = Steps.addQuestions(begun(), [["name", form]], 1001)
    const ended = Steps.finish(asked, { _tag: "Cancelled" }, 1002)
    assert.strictEqual(ended.message, "cancelled by request")
    assert.strictEqual(ended.questions.size, 0)
    assert.strictEqual(Steps.finish(ended, done, 1003), ended)
    assert.strictEqual(Steps.setMessage(ended, "still here", 1003), ended)
    assert.strictEqual(Steps.removeQuestions(ended, keys, 1003), ended)
  })

  it("updates its status message until it has ended, and makes no change for the same message", () => {
    const said = Steps.setMessage(begun(), "running `ls`", 1001)
    assert.deepStrictEqual([said.message, said.version], ["running `ls`", 1])
    assert.strictEqual(Steps.setMessage(said, "running `ls`", 1002), said)
    assert.strictEqual(Steps.finish(said, done, 1003).message, undefined)
  })

  it("is never updated earlier than before, whatever the clock says", () => {
    assert.strictEqual(Steps.setMessage(begun(), "back", 500).updatedAtMs, 1000)
  })

  it("expires its ttl after its creation, when it ends in time", () => {
    const ended = Steps.finish(begun(10 * minute), done, 1000 + minute)
    assert.strictEqual(Steps.expiresAtMs(ended), 1000 + 10 * minute)
    assert.strictEqual(Steps.ttlAt(ended, 1000 + 9 * minute), 10 * minute)
  })

  it("never expires while it runs, and reports a ttl that grows with it", () => {
    assert.strictEqual(Steps.expiresAtMs(begun()), undefined)
    assert.strictEqual(Steps.ttlAt(begun(), 1000 + 60 * minute), 65 * minute)
  })

  it("is kept for a while after a late end, and no longer than requested", () => {
    const late = (ttlMs: number) => Steps.finish(begun(ttlMs), done, 1000 + 60 * minute)
    assert.strictEqual(Steps.expiresAtMs(late(10 * minute)), 1000 + 65 * minute)
    assert.strictEqual(Steps.expiresAtMs(late(2000)), 1000 + 60 * minute + 2000)
    assert.strictEqual(Steps.ttlAt(late(2000), 0), 60 * minute + 2000)
  })

  it("is kept for ever without a ttl", () => {
    const ended = Steps.finish(begun(null), done, 2000)
    assert.strictEqual(Steps.expiresAtMs(ended), undefined)
    assert.strictEqual(Steps.ttlAt(ended, 9e12), null)
  })
})
