import { assert, describe, it } from "@effect/vitest"
import xterm from "@xterm/headless"
import { plain } from "../../src/demo/Style.ts"
import { ChatScreen } from "../../src/terminal/chat/ChatScreen.ts"
import { initialState } from "../../src/terminal/chat/ChatState.ts"
import { lineOf } from "../../src/terminal/chat/line/Editor.ts"
import { liveRows } from "../../src/terminal/chat/LiveRows.ts"
import { fit, rowsOf, widthOf } from "../../src/terminal/Width.ts"

const question = {
  id: "call",
  text: "Allow it?",
  answers: {},
  hint: "[y] yes",
  opOf: () => ({ type: "interrupt" }) as const,
}

const options = { columns: 19, style: plain, maxRows: 9, nowMs: 3500 }

/** What a terminal shows after the texts, and its cursor. */
const shown = (texts: ReadonlyArray<string | number>) =>
  new Promise<{ readonly rows: ReadonlyArray<string>; readonly cursor: readonly [number, number] }>(
    (resolve) => {
      const terminal = new xterm.Terminal({ cols: 20, rows: 10, allowProposedApi: true })
      for (const text of texts) {
        if (typeof text === "string") terminal.write(text)
        else terminal.write("", () => terminal.resize(text, 10))
      }
      terminal.write("", () => {
        const { active } = terminal.buffer
        const rows = Array.from(
          { length: active.length },
          (_, index) => active.getLine(index)?.translateToString(true) ?? "",
        )
        while (rows.at(-1) === "") rows.pop()
        resolve({ rows, cursor: [active.cursorX, active.baseY + active.cursorY] })
      })
    },
  )

describe("ChatScreen", () => {
  it("replaces the rows that change, and keeps the final ones", async () => {
    const screen = new ChatScreen()
    const running = { ...initialState, turn: { id: "1", startedMs: 0, isStopping: false } }
    const first = liveRows(running, ["  streamed"], options)
    const second = liveRows({ ...initialState, line: lineOf("typed") }, [], options)
    const { cursor, rows } = await shown([
      screen.draw(["one"], first, 20),
      screen.draw(["two", "three"], second, 20),
    ])
    assert.deepStrictEqual(rows, ["one", "two", "three", "› typed"])
    assert.deepStrictEqual(cursor, [7, 3])
  })

  it("wraps a long line and puts the cursor where it is typed", async () => {
    const screen = new ChatScreen()
    const line = { text: "abcdefghijklmnopqrstuvwxyz", cursor: 3 }
    const { cursor, rows } = await shown([
      screen.draw([], liveRows({ ...initialState, line }, [], options), 20),
    ])
    assert.deepStrictEqual(rows, ["› abcdefghijklmnopq", "  rstuvwxyz"])
    assert.deepStrictEqual(cursor, [5, 0])
  })

  it("erases no final row when the terminal became narrower", async () => {
    const screen = new ChatScreen()
    const long = { ...initialState, line: lineOf("0123456789abcd") }
    const narrow = { ...options, columns: 9 }
    const { rows } = await shown([
      screen.draw(["one"], liveRows(long, [], options), 20),
      10,
      screen.draw([], liveRows(long, [], narrow), 10),
    ])
    assert.deepStrictEqual(rows, ["one", "› 0123456", "  789abcd", "  "])
  })

  it("shows at most the rows that there are", () => {
    const line = lineOf("1\n2\n3\n4\n5")
    const live = liveRows({ ...initialState, line }, [], { ...options, maxRows: 3 })
    assert.deepStrictEqual(live.rows, ["  3", "  4", "  5"])
    assert.deepStrictEqual(live.cursor, { row: 2, column: 3 })
  })

  it("says how long the turn has been running, and which messages wait", () => {
    const state = {
      ...initialState,
      turn: { id: "1", startedMs: 0, isStopping: false },
      sent: ["and then\nthis"],
    }
    const wide = { ...options, columns: 60 }
    assert.deepStrictEqual(liveRows(state, [], wide).rows.slice(0, 2), [
      "  working, 3 s · Ctrl-C interrupts",
      "  waits: and then this",
    ])
    const [begun] = liveRows(state, [], { ...wide, nowMs: 999 }).rows
    assert.strictEqual(begun, "  working · Ctrl-C interrupts")
    const asked = { ...state, questions: [{ ...question, shownAtMs: 0 }] }
    assert.strictEqual(
      liveRows(asked, [], wide).rows[0],
      "  waiting for an answer · Ctrl-C interrupts",
    )
  })
})

describe("Width", () => {
  it("counts wide characters, and cuts and wraps by columns", () => {
    assert.strictEqual(widthOf("日本"), 4)
    assert.strictEqual(fit("日本語", 5), "日本…")
    assert.deepStrictEqual(rowsOf("one two three", 8), ["one two", "three"])
    assert.deepStrictEqual(rowsOf("0123456789", 4), ["0123", "4567", "89"])
    for (const row of rowsOf("日本語の文章は 空白 がない", 7)) assert.isAtMost(widthOf(row), 7)
  })
})
