/** Wraps text at words while it streams in: what was shown stays, so only a word that begins can move down. */

/** Where a text stands. */
export interface Cursor {
  /** Characters on the line, counted behind the margin. */
  readonly column: number
  /** White space that waits for the next word: it is not shown when the word moves down, or never comes. */
  readonly gap: string
}

export const textStart: Cursor = { column: 0, gap: "" }

/** How `gap` and the word after it look. */
const place = (word: string, { column, gap }: Cursor, width: number, margin: string) => {
  const length = Array.from(word).length
  // Nothing shown yet: white space in front of a text is no part of it.
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
 * The next piece of a text, with line breaks and margins put in, and where it leaves the cursor.
 *
 * @param width characters per line behind the margin
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
