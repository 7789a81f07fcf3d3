import { eventRecord } from "@colloquy/core/LogRecord"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { readHistory } from "../../src/thread/ThreadHistory.ts"

const begun: EventMsg = { type: "task_started", model_context_window: null }
const running: EventMsg = {
  type: "exec_command_begin",
  call_id: "c",
  command: ["make"],
  cwd: "/work",
  parsed_cmd: [],
}

/** The turns of a log whose events are a second apart. */
const turnsOf = (...events: ReadonlyArray<readonly [turn: string, msg: EventMsg]>) =>
  readHistory(events.map(([id, msg], seq) => eventRecord(1000 * seq, { seq, id, msg }))).turns.map(
    ({ completedAt, durationMs, id, items, status }) => ({
      id,
      status,
      completedAt,
      durationMs,
      items: items.map((item) => [
        item.type,
        "status" in item ? item.status : undefined,
        item.completedAtMs,
      ]),
    }),
  )

const cutOff = {
  id: "a",
  status: "interrupted",
  completedAt: 1,
  durationMs: 1000,
  items: [["commandExecution", "failed", 1000]],
}

describe("readHistory", () => {
  it("the last turn runs while the log has no end of it, and has its open items", () => {
    assert.deepStrictEqual(turnsOf(["a", begun], ["a", running]), [
      {
        id: "a",
        status: "inProgress",
        completedAt: null,
        durationMs: null,
        items: [["commandExecution", "inProgress", null]],
      },
    ])
  })

  it.each<readonly [string, EventMsg, unknown]>([
    ["runs", running, { status: "inProgress", completedAt: null, durationMs: null }],
    [
      "has ended",
      { type: "task_complete", last_agent_message: null },
      { status: "completed", completedAt: 3, durationMs: 1000 },
    ],
  ])(
    "an earlier turn without an end is over with its last event, while a later one %s",
    (_, msg, later) => {
      const [first, second] = turnsOf(["a", begun], ["a", running], ["b", begun], ["b", msg])
      assert.deepStrictEqual<unknown>(first, cutOff)
      assert.deepInclude(second, { id: "b", ...(later as object) })
    },
  )
})
