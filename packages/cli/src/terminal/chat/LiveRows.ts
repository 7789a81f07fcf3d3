/**
 * The rows at the bottom of a chat that change: the end of the streamed text, the state of the turn, messages that wait,
 * and the line that is typed or the question that waits for a key. Pure.
 */
import { formatMillis, prose } from "../../demo/Format.ts"
import type { TextOptions } from "../sessions/SessionText.ts"
import { fit, graphemes, rowsOf, widthOf } from "../Width.ts"
import type { ChatState } from "./ChatState.ts"

/** The rows, and the cursor in them. */
export interface Live {
  readonly rows: ReadonlyArray<string>
  readonly cursor: { readonly row: number; readonly column: number }
}

const mark = "› "

/** The typed line in rows of at most `columns`, and the place of its cursor. */
const inputRows = (state: ChatState, { columns, style }: TextOptions): Live => {
  const { cursor, text } = state.line
  const rows: Array<string> = [""]
  let place = { row: 0, column: 0 }
  let units = 0
  const width = Math.max(1, columns - mark.length)
  for (const one of [...graphemes(text), ""]) {
    const last = rows.length - 1
    const used = widthOf(rows[last] ?? "")
    if (units === cursor)
      place = used >= width ? { row: last + 1, column: 0 } : { row: last, column: used }
    units += one.length
    const shown = prose(one)
    if (one === "\n") rows.push("")
    else if (one !== "" && used + widthOf(shown) > width) rows.push(shown)
    else rows[last] += shown
  }
  if (place.row === rows.length) rows.push("")
  return {
    rows: rows.map((row, index) => `${index === 0 ? style.accent(mark) : "  "}${row}`),
    cursor: { row: place.row, column: place.column + mark.length },
  }
}

const statusRows = (
  state: ChatState,
  { columns, style }: TextOptions,
  nowMs: number,
): ReadonlyArray<string> => {
  if (state.turn === undefined) {
    return state.isLeaving ? [style.dim(fit("  Ctrl-C once more ends the chat", columns))] : []
  }
  const { isStopping, startedMs } = state.turn
  const text = isStopping
    ? "  interrupting … · Ctrl-C once more ends the chat"
    : `  working, ${formatMillis(Math.floor((nowMs - startedMs) / 1000) * 1000)} · Ctrl-C interrupts`
  return [style.dim(fit(text, columns))]
}

/** The keys that answer: with Alt where a letter alone belongs to what is typed. */
const hintOf = ({ line, questions: [question] }: ChatState): string =>
  (line.text === "" ? question?.hint : question?.hint.replaceAll(/\[(?=\w\])/gu, "[Alt-")) ?? ""

/** The rows that change. At most `maxRows`: what is above them is left out. */
export const liveRows = (
  state: ChatState,
  open: ReadonlyArray<string>,
  options: TextOptions & { readonly maxRows: number; readonly nowMs: number },
): Live => {
  const { columns, maxRows, nowMs, style } = options
  const [question] = state.questions
  const above = [
    ...open,
    ...statusRows(state, options, nowMs),
    ...(state.turn === undefined
      ? []
      : state.sent.map((text) =>
          style.dim(fit(`  waits: ${prose(text.replaceAll("\n", " "))}`, columns)),
        )),
    ...(question === undefined
      ? []
      : rowsOf(hintOf(state), columns - 2).map((row) => style.accent(`  ${row}`))),
  ]
  const input = inputRows(state, options)
  const rows = [...above, ...input.rows]
  const left = Math.max(0, rows.length - Math.max(1, maxRows))
  return {
    rows: rows.slice(left),
    cursor: {
      row: Math.max(0, above.length + input.cursor.row - left),
      column: input.cursor.column,
    },
  }
}
