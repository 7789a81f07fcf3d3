/** The rows of the line that is typed, and the place of the cursor in them. Pure. */
import { prose } from "../../../demo/Format.ts"
import type { TextOptions } from "../../sessions/SessionText.ts"
import { graphemes, isAscii, widthOf } from "../../Width.ts"
import type { Line } from "./Editor.ts"

interface Place {
  readonly row: number
  readonly column: number
}

/** Rows that change, and the cursor in them. */
export interface Live {
  readonly rows: ReadonlyArray<string>
  readonly cursor: Place
}

/** The rows of a text without line feeds, at least one, and the place behind that many of its UTF-16 code units. */
interface Laid {
  readonly rows: ReadonlyArray<string>
  /** Below the last row where the text ends with a full one. */
  readonly place: Place
}

const mark = "› "

const asciiRows = (text: string, width: number, units: number): Laid => ({
  rows: Array.from({ length: Math.max(1, Math.ceil(text.length / width)) }, (_, n) =>
    text.slice(n * width, (n + 1) * width),
  ),
  place: { row: Math.floor(units / width), column: units % width },
})

const rowsOfLine = (text: string, width: number, cursor: number): Laid => {
  if (isAscii(text)) return asciiRows(text, width, cursor)
  const rows: Array<string> = [""]
  let place: Place = { row: 0, column: 0 }
  let units = 0
  // The width is summed up: measuring the row for each character would take as long as all others together.
  let used = 0
  for (const one of [...graphemes(text), ""]) {
    const last = rows.length - 1
    if (units === cursor) {
      place = used >= width ? { row: last + 1, column: 0 } : { row: last, column: used }
    }
    units += one.length
    const shown = prose(one)
    const wide = widthOf(shown)
    if (one !== "" && used + wide > width) {
      rows.push(shown)
      used = wide
    } else {
      rows[last] += shown
      used += wide
    }
  }
  return { rows, place }
}

/**
 * The typed line in rows of at most `columns`. Only the lowest `maxRows` or a few more are made: what is above them is not
 * shown, and a pasted text may be long.
 */
export const inputRows = (
  { cursor, text }: Line,
  { columns, maxRows, style }: TextOptions & { readonly maxRows: number },
): Live => {
  const width = Math.max(1, columns - mark.length)
  const lines = text.split("\n")
  const blocks: Array<ReadonlyArray<string>> = []
  let [count, end] = [0, text.length]
  /** The row of the cursor, counted from below. Absent while it is above what was made. */
  let below: Place | undefined
  while (lines.length > 0 && count < Math.max(1, maxRows)) {
    const line = lines.pop() ?? ""
    const start = end - line.length
    const { place, rows } = rowsOfLine(line, width, cursor - start)
    blocks.push(rows)
    count += rows.length
    if (below === undefined && cursor >= start) below = { ...place, row: count - place.row }
    end = start - 1
  }
  const rows = blocks.toReversed().flat()
  if (below?.row === 0) rows.push("")
  return {
    rows: rows.map(
      (row, index) => `${index === 0 && lines.length === 0 ? style.accent(mark) : "  "}${row}`,
    ),
    cursor: {
      row: below === undefined ? -1 : count - below.row,
      column: (below?.column ?? 0) + mark.length,
    },
  }
}
