import type { ConversationSummary } from "@colloquy/core/ConversationManager"
import { assert, describe, it } from "@effect/vitest"
import { ago, sessionTable } from "../../src/terminal/sessions/SessionTable.ts"
import { widthOf } from "../../src/terminal/Width.ts"

const minuteMs = 60_000
const nowMs = 1_800_000_000_000

const session = {
  id: "01a209ab-fe2e-72a0-b611-7fbc3b5fb281",
  loaded: false,
  preview: "日本語のメッセージ ".repeat(20),
  createdAtMs: nowMs - 3 * 60 * minuteMs,
  updatedAtMs: nowMs - 2 * minuteMs,
  cwd: "/home/someone/a/very/long/path/to/a/project",
  model: "gpt-5",
  archived: false,
} as ConversationSummary

describe("SessionTable", () => {
  it("no row is wider than the terminal, whatever its width", () => {
    for (let columns = 20; columns <= 160; columns += 1) {
      for (const row of sessionTable([session], { columns, nowMs })) {
        assert.isAtMost(widthOf(row), columns)
      }
    }
  })

  it("shows when each was created, by which they are ordered", () => {
    const sessions = [1, 2, 3].map((hours) => ({
      ...session,
      createdAtMs: nowMs - hours * 60 * minuteMs,
      updatedAtMs: nowMs + hours,
    }))
    const [titles = "", ...rows] = sessionTable(sessions, { columns: 80, nowMs })
    assert.match(titles, /^ID +CREATED +NAME OR FIRST MESSAGE$/)
    assert.deepStrictEqual(
      rows.map((row) => /\d h ago/.exec(row)?.[0]),
      ["1 h ago", "2 h ago", "3 h ago"],
    )
  })

  it("a wide terminal also shows the model and the end of the directory", () => {
    const [titles = "", row = ""] = sessionTable([session], { columns: 120, nowMs })
    assert.match(titles, /^ID +CREATED +MODEL +DIRECTORY +NAME OR FIRST MESSAGE$/)
    assert.match(row, /3 h ago +gpt-5 +…\S+\/path\/to\/a\/project +日本語/)
  })

  it("spells out what a terminal would obey", () => {
    const hostile = { ...session, preview: "\u001b[2J" }
    const rows = sessionTable([hostile], { columns: 80, nowMs })
    assert.notInclude(rows.join(""), "\u001b")
  })

  it("says how long ago", () => {
    for (const [ms, text] of [
      [0, "just now"],
      [minuteMs, "1 min ago"],
      [90 * minuteMs, "1 h ago"],
      [29 * 24 * 60 * minuteMs, "29 d ago"],
    ] as const) {
      assert.strictEqual(ago(nowMs - ms, nowMs), text)
    }
    assert.strictEqual(ago(nowMs - 40 * 24 * 60 * minuteMs, nowMs), "2026-12-06")
  })
})
