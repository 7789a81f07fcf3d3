/** Wraps streamed text at words. Text that was already shown stays where it is, so only a new word can move to the next line. */

/** The position after a text. */
export interface Cursor {
  /** Number of characters on the line, without the margin. */
  readonly column: number
  /** White space after the last word. It is dropped if the next word moves to the next line or never comes. */
  readonly gap: string
}

/** The position before a text. */
export const textStart: Cursor = { column: 0, gap: "" }

/** The text to write for the pending white space and the word after it. */
const place = (word: string, { column, gap }: Cursor, width: number, margin: string) => {
  const length = Array.from(word).length
  // White space before the first word is dropped.
  if (column === 0) return { text: word, column: length }
  const lastBreak = gap.lastIndexOf("\n")
  const blanks = gap.slice(lastBreak + 1)
  if (lastBreak !== -1) {
    const breaks = gap.slice(0, lastBreak + 1).replaceAll(/[^\n]/g, "")
    return { text: `${breaks}${margin}${blanks}${word}`, column: blanks.length + length }
  }
  return gap !== "" && column + gap.length + length > width
    ? { text: `\n${margin}${word}`, column: length }
    : { text: gap + word, column: column + gap.length + length }
}

/**
 * Wraps the next piece of a text. Returns it with line breaks and margins, and the position after it.
 *
 * @param width characters per line, without the margin
 */
export const wrap = (
  piece: string,
  at: Cursor,
  width: number,
  margin: string,
): readonly [text: string, at: Cursor] => {
  let text = ""
  let cursor = at
  for (const token of piece.match(/\s+|\S+/g) ?? []) {
    if (token.trim() === "") {
      cursor = { column: cursor.column, gap: cursor.gap + token }
      continue
    }
    const placed = place(token, cursor, width, margin)
    text += placed.text
    cursor = { column: placed.column, gap: "" }
  }
  return [text, cursor]
}
