import { assert, describe, it } from "@effect/vitest"
import { plain } from "../../src/demo/Style.ts"
import { endRows } from "../../src/terminal/sessions/SessionText.ts"
import { rowsOf, widthOf } from "../../src/terminal/Width.ts"

describe("rowsOf", () => {
  it.each(["x", "日本", "a\u0301", "word "])(
    "wraps a line of %s in time with its length",
    (text) => {
      const line = text.repeat(100_000).trim()
      const rows = rowsOf(line, 77)
      assert.strictEqual(rows.join(text.includes(" ") ? " " : ""), line)
      for (const row of rows) assert.isAtMost(widthOf(row), 77)
    },
  )
})

describe("the output of a command", () => {
  const command = {
    type: "command",
    id: "1",
    turnId: "1",
    callId: "call",
    command: ["cat"],
    cwd: "/",
    status: "completed",
    exitCode: 0,
  } as const
  const shown = (output: string) =>
    endRows({ ...command, output }, { columns: 80, style: plain, maxOutputLines: 3 })

  it("is cut to its last rows, also where it is one line", () => {
    const rows = shown("x".repeat(1_000_000))
    assert.strictEqual(rows[0], "  │ … the rest of the line before this")
    for (const row of rows.slice(1, 4)) assert.match(row, /^ {2}│ x+$/)
    assert.lengthOf(rows, 5)
    assert.strictEqual(shown("a\nb\nc\nd")[0], "  │ … 1 line before these")
  })
})
