/**
 * The rows at the bottom of a chat that change: the end of the streamed text, the state of the turn, messages that wait,
 * and the line that is typed or the question that waits for a key. Pure.
 */
import { prose, workingText } from "../../demo/Format.ts"
import type { TextOptions } from "../sessions/SessionText.ts"
import { fit, rowsOf } from "../Width.ts"
import type { ChatState } from "./ChatState.ts"
import { inputRows, type Live } from "./line/Rows.ts"

/** Longest piece of a message that waits for its turn which is measured, in UTF-16 code units. */
const maxWaiting = 4096

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
    : `  ${state.questions.length > 0 ? "waiting for an answer · Ctrl-C interrupts" : workingText(nowMs - startedMs)}`
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
          style.dim(
            fit(`  waits: ${prose(text.slice(0, maxWaiting).replaceAll("\n", " "))}`, columns),
          ),
        )),
    ...(question === undefined
      ? []
      : rowsOf(hintOf(state), columns - 2).map((row) => style.accent(`  ${row}`))),
  ]
  const input = inputRows(state.line, options)
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
