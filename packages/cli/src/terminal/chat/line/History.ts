/** Earlier messages, which the keys up and down put into the line. Pure. */
import { type Line, lineOf } from "./Editor.ts"

/** Which message is in the line. */
export interface InputHistory {
  /** Newest first; more may be loaded. */
  readonly entries: ReadonlyArray<string>
  /** -1: the draft, which is not an earlier message. */
  readonly index: number
  /** What was typed before the first key up. */
  readonly draft: string
}

/** The state before the first key. */
export const emptyHistory: InputHistory = { entries: [], index: -1, draft: "" }

/** The history and the line after a step: 1 to an older message, -1 to a newer one. Undefined where there is none. */
export const browse = (
  history: InputHistory,
  line: Line,
  by: 1 | -1,
): readonly [InputHistory, Line] | undefined => {
  const index = history.index + by
  if (index < -1 || index >= history.entries.length) return undefined
  const draft = history.index === -1 ? line.text : history.draft
  const text = index === -1 ? draft : (history.entries[index] ?? "")
  return [{ ...history, index, draft }, lineOf(text)]
}

/** The history with a message that was sent. */
export const remember = (history: InputHistory, text: string): InputHistory => ({
  entries: [text, ...history.entries],
  index: -1,
  draft: "",
})
