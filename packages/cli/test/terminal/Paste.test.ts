/** A pasted text, and the rows of a long line. */
import { assert, describe, it } from "@effect/vitest"
import { plain } from "../../src/demo/Style.ts"
import { initialState, onKey } from "../../src/terminal/chat/ChatState.ts"
import { inputRows } from "../../src/terminal/chat/line/Rows.ts"
import type { Key } from "../../src/terminal/chat/line/Editor.ts"
import { joinPasted } from "../../src/terminal/chat/line/Paste.ts"

const keysOf = (text: string): ReadonlyArray<Key> =>
  Array.from(text, (sequence) => ({ sequence, name: sequence === "\r" ? "return" : undefined }))
const start: Key = { name: "paste-start", sequence: "" }
const end: Key = { name: "paste-end", sequence: "" }
const up: Key = { name: "up", sequence: "\u001b[A" }

const press = (keys: ReadonlyArray<Key>, state = initialState) =>
  keys.reduce((next, key) => onKey(next, key, 0)[0], state)

const rowsOf = (text: string, cursor: number, maxRows = 9, columns = 12) =>
  inputRows({ text, cursor }, { columns, maxRows, style: plain, maxOutputLines: 1 })

describe("a pasted text", () => {
  it("is one insertion, without the keys in it", () => {
    const keys = [
      ...keysOf("a"),
      start,
      ...keysOf("b\r\tc"),
      up,
      ...keysOf("d"),
      end,
      ...keysOf("e"),
    ]
    const joined = joinPasted(keys, false)
    assert.deepStrictEqual(
      joined.map(({ name, sequence }) => name ?? sequence),
      ["a", "paste-start", "b\n\tcd", "paste-end", "e"],
    )
    assert.deepStrictEqual(press(joined), press(keys))
    assert.strictEqual(press(joined).line.text, "ab\n\tcde")
  })

  it("goes on in later keys", () => {
    const first = joinPasted([start, ...keysOf("a")], false)
    const state = press(first)
    assert.isTrue(state.isPasting)
    const next = press(joinPasted([...keysOf("b\r"), end], state.isPasting), state)
    assert.deepStrictEqual([next.line.text, next.isPasting], ["ab\n", false])
  })
})

describe("the rows of the typed line", () => {
  it("are broken at the width, with the cursor behind a full one in the next", () => {
    assert.deepStrictEqual(rowsOf("0123456789", 10), {
      rows: ["› 0123456789", "  "],
      cursor: { row: 1, column: 2 },
    })
    assert.deepStrictEqual(rowsOf("0123456789ab\nc", 11), {
      rows: ["› 0123456789", "  ab", "  c"],
      cursor: { row: 1, column: 3 },
    })
    assert.deepStrictEqual(rowsOf("日本語日本語", 3), {
      rows: ["› 日本語日本", "  語"],
      cursor: { row: 0, column: 8 },
    })
    assert.deepStrictEqual(rowsOf("\té", 2), {
      rows: ["›     é"],
      cursor: { row: 0, column: 7 },
    })
  })

  it("of a long text are the lowest ones, without the mark of the first", () => {
    const text = Array.from({ length: 100_000 }, (_, n) => `line ${n}`).join("\n")
    const { cursor, rows } = rowsOf(text, text.length, 2, 14)
    assert.deepStrictEqual(rows, ["  line 99998", "  line 99999"])
    assert.deepStrictEqual(cursor, { row: 1, column: 12 })
    assert.strictEqual(rowsOf(text, 0, 2).cursor.row, -1)
  })
})
