/** The width of text on a terminal, and how to fit text into it. Pure. */
import { displayWidth } from "effect/cli/CliOutput"

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** The characters as a person sees them: a letter with its accents is one. */
export const graphemes = (text: string): ReadonlyArray<string> =>
  Array.from(segmenter.segment(text), ({ segment }) => segment)

/** Number of columns that the text takes. */
export { displayWidth as widthOf }

/** The text cut to a number of columns, with `…` at the end where something is missing. */
export const fit = (text: string, columns: number): string => {
  if (displayWidth(text) <= columns) return text
  let cut = ""
  let width = 0
  for (const one of graphemes(text)) {
    const next = displayWidth(one)
    if (width + next > columns - 1) break
    cut += one
    width += next
  }
  return columns < 1 ? "" : `${cut}…`
}

/** The text filled up with spaces to a number of columns. */
export const pad = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - displayWidth(text)))

/** The rows that the text takes: it is broken at its line feeds, at spaces where possible, and at any character otherwise. */
export const rowsOf = (text: string, columns: number): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => wrapLine(line, Math.max(1, columns)))

const wrapLine = (line: string, columns: number): ReadonlyArray<string> => {
  if (displayWidth(line) <= columns) return [line]
  const rows: Array<string> = []
  let row = ""
  for (const word of line.match(/\s+|\S+/gu) ?? []) {
    if (displayWidth(row) + displayWidth(word) <= columns) {
      row += word
      continue
    }
    if (word.trim() === "") {
      rows.push(row)
      row = ""
      continue
    }
    if (row.trim() !== "") rows.push(row.trimEnd())
    const pieces = cutEvery(word, columns)
    rows.push(...pieces.slice(0, -1))
    row = pieces.at(-1) ?? ""
  }
  return row === "" ? rows : [...rows, row]
}

const cutEvery = (word: string, columns: number): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let piece = ""
  for (const one of graphemes(word)) {
    if (piece !== "" && displayWidth(piece + one) > columns) {
      pieces.push(piece)
      piece = ""
    }
    piece += one
  }
  return [...pieces, piece]
}
