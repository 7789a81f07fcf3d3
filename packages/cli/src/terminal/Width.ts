/** The width of text on a terminal, and how to fit text into it. Pure. */
import { displayWidth } from "effect/cli/CliOutput"

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** The characters as a person sees them: a letter with its accents is one. */
export const graphemes = (text: string): ReadonlyArray<string> =>
  Array.from(segmenter.segment(text), ({ segment }) => segment)

/** Printable ASCII: one column for each character. Measuring it as other text takes a hundred times as long. */
export const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/u.test(text)

/** Number of columns that the text takes. */
export const widthOf = (text: string): number => (isAscii(text) ? text.length : displayWidth(text))

/** The text cut to a number of columns, with `…` at the end where something is missing. */
export const fit = (text: string, columns: number): string => {
  if (widthOf(text) <= columns) return text
  let cut = ""
  let width = 0
  // Not all of them: the text may be long.
  for (const { segment: one } of segmenter.segment(text)) {
    const next = widthOf(one)
    if (width + next > columns - 1) break
    cut += one
    width += next
  }
  return columns < 1 ? "" : `${cut}…`
}

/** The text filled up with spaces to a number of columns. */
export const pad = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - widthOf(text)))

/** The rows that the text takes: it is broken at its line feeds, at spaces where possible, and at any character otherwise. */
export const rowsOf = (text: string, columns: number): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => wrapLine(line, Math.max(1, columns)))

const wrapLine = (line: string, columns: number): ReadonlyArray<string> => {
  if (widthOf(line) <= columns) return [line]
  const rows: Array<string> = []
  let row = ""
  let width = 0
  const put = (text: string) => {
    rows.push(text)
    row = ""
    width = 0
  }
  for (const word of line.match(/\s+|\S+/gu) ?? []) {
    const wordWidth = widthOf(word)
    if (width + wordWidth <= columns) {
      row += word
      width += wordWidth
      continue
    }
    if (word.trim() === "") {
      put(row)
      continue
    }
    if (row.trim() !== "") rows.push(row.trimEnd())
    row = ""
    for (const piece of cutEvery(word, columns)) {
      if (row !== "") rows.push(row)
      row = piece
    }
    width = widthOf(row)
  }
  return row === "" ? rows : [...rows, row]
}

/** The width is summed up: measuring the whole piece for each character would take time with the square of its length. */
const cutEvery = (word: string, columns: number): ReadonlyArray<string> => {
  if (isAscii(word)) {
    const count = Math.ceil(word.length / columns)
    return Array.from({ length: count }, (_, n) => word.slice(n * columns, (n + 1) * columns))
  }
  const pieces: Array<string> = []
  const widths = new Map<string, number>()
  let piece = ""
  let width = 0
  for (const one of graphemes(word)) {
    const next = widths.get(one) ?? widthOf(one)
    widths.set(one, next)
    if (piece !== "" && width + next > columns) {
      pieces.push(piece)
      piece = ""
      width = 0
    }
    piece += one
    width += next
  }
  return [...pieces, piece]
}
