import { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { assert, describe, it } from "@effect/vitest"
import * as Shapes from "../../../src/mcp/tasks/TaskShapes.ts"
import * as Steps from "../../../src/tasks/Task.ts"

const made = Steps.create(
  { id: "t", principal: "me", ordinal: 1, ttlMs: 60_000, pollIntervalMs: 500 },
  Date.UTC(2026, 10, 21, 3, 4, 5, 6),
)

const startMs = made.createdAtMs
const start = "2026-11-21T03:04:05.006Z"
const end = "2026-11-21T03:04:06.006Z"

const failing = (text: string): Steps.TaskEnd => ({
  _tag: "Result",
  result: {
    content: [
      { type: "image", data: "" },
      { type: "text", text },
    ],
    isError: true,
  },
})

const ended = (how: Steps.TaskEnd) => Steps.finish(made, how, startMs + 1000)

describe("TaskShapes", () => {
  it("writes times as ISO 8601, and ttls in milliseconds under the names of each revision", () => {
    const said = Steps.setMessage(made, "at work", startMs + 1000)
    assert.deepStrictEqual(Shapes.handshakeTask(said, startMs + 1000), {
      taskId: "t",
      status: "working",
      statusMessage: "at work",
      createdAt: start,
      lastUpdatedAt: end,
      ttl: 61_000,
      pollInterval: 500,
    })
    assert.deepStrictEqual(Shapes.detailedTask(said, startMs + 1000), {
      taskId: "t",
      status: "working",
      statusMessage: "at work",
      createdAt: start,
      lastUpdatedAt: end,
      ttlMs: 61_000,
      pollIntervalMs: 500,
    })
  })

  it("has the status input_required while a question is pending, and includes it in 2026-07-28", () => {
    const question = { method: "roots/list" as const }
    const [asked] = Steps.addQuestions(made, [["where", question]], startMs)
    assert.strictEqual(Shapes.handshakeTask(asked, startMs).status, "input_required")
    const { inputRequests, status } = Shapes.detailedTask(asked, startMs)
    assert.deepStrictEqual([status, inputRequests], ["input_required", { "1-where": question }])
  })

  it("a result with an error is a failed task in 2025-11-25, with its first words, and a completed one in 2026-07-28", () => {
    const long = "x".repeat(10_000)
    const task = ended(failing(long))
    const old = Shapes.handshakeTask(task, startMs)
    assert.deepStrictEqual([old.status, old.statusMessage], ["failed", long.slice(0, 500)])
    const { result, status, statusMessage } = Shapes.detailedTask(task, startMs)
    assert.deepStrictEqual([status, statusMessage], ["completed", undefined])
    assert.strictEqual(result, task.end?._tag === "Result" ? task.end.result : undefined)
  })

  it("an error is a failed task in both, and is inlined as it would have been answered", () => {
    const error = new JsonRpcError({ code: -32602, message: "no", data: { at: 1 } })
    const task = ended({ _tag: "Error", error })
    const old = Shapes.handshakeTask(task, startMs)
    assert.deepStrictEqual([old.status, old.statusMessage], ["failed", "no"])
    const inlined = Shapes.detailedTask(task, startMs)
    assert.deepStrictEqual(
      [inlined.status, inlined.statusMessage, inlined.error, inlined.result],
      ["failed", "no", { code: -32602, message: "no", data: { at: 1 } }, undefined],
    )
  })

  it("adds the task to the present members of `_meta`", () => {
    assert.deepStrictEqual(Shapes.withRelated("t", { a: 1 }), {
      a: 1,
      "io.modelcontextprotocol/related-task": { taskId: "t" },
    })
  })
})
