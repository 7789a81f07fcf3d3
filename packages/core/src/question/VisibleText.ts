/**
 * Makes text of foreign origin (of a model, a tool server or a file name) safe to read: every character that a display
 * interprets, hides or reorders becomes an escape sequence. Pure. Keeps its part of L7: no function here returns a
 * control, format, unassigned or private-use character other than a line feed that the layout added.
 */

import { once } from "@colloquy/protocol/Once"

/**
 * Everything but the space that is not visible, or that changes how its neighbours are displayed: control, format
 * (directional overrides included), unassigned, private-use and lone surrogate code points (general category C); all
 * separators (Z); what Unicode lets a display ignore, such as zero-width joiners, variation selectors, tags and Hangul
 * fillers; the Braille blank; and combining marks that have no letter to stand on or are stacked more than three high.
 */
const hiddenSource =
  "(?! )[\\p{C}\\p{Z}\\p{Default_Ignorable_Code_Point}\\u2800]|(?<![\\p{L}\\p{N}]\\p{M}{0,2})\\p{M}"

/** Compiled at the first use: compiling reads Unicode tables, and a client waits while the process starts. */
const hidden = once(() => new RegExp(hiddenSource, "gu"))

/** True for printable ASCII, which has no hidden characters. Most texts are. */
const isPlain = (text: string): boolean => /^[ -~]*$/.test(text)

/** True when every character of the text is visible; the text is one line then. */
export const isVisible = (text: string): boolean => isPlain(text) || text.search(hidden()) === -1

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\t": "\\t" }

const escaped = (char: string): string => {
  const code = char.codePointAt(0) ?? 0
  const hex = code.toString(16)
  if (code < 0x80) return named[char] ?? `\\x${hex.padStart(2, "0")}`
  return code > 0xffff ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`
}

/** The text with each hidden character as an escape sequence of `$'…'` in bash and zsh. Backslashes are unchanged. */
export const spelledOut = (text: string): string =>
  isPlain(text) ? text : text.replace(hidden(), escaped)

/** Longest line of a layout, in columns of a terminal, so that a display of 80 columns breaks none of them. */
const maxColumns = 72

/** Characters from here on may take two columns (Hangul, Chinese, Japanese, emoji). */
const firstWide = "\u1100"

const columnsOf = (token: string): number => token.length + (token >= firstWide ? 1 : 0)

/** An escape sequence, or a character with its marks. */
const tokens = /\\(?:x[\da-f]{2}|u[\da-f]{4}|U[\da-f]{8}|[\s\S])|[\s\S]\p{M}*/gu

const isLineEnd = (token: string): boolean => token === "\\n"

/** Text without hidden characters in lines: each ends behind an escaped line feed or where it is full. */
const linesOf = (text: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  let columns = 0
  const flush = () => {
    if (line !== "") lines.push(line)
    line = ""
    columns = 0
  }
  for (const [token] of text.matchAll(tokens)) {
    const width = columnsOf(token)
    if (columns + width > maxColumns) flush()
    line += token
    columns += width
    if (isLineEnd(token)) flush()
  }
  flush()
  return lines
}

/** A part of a layout: a line of the text, or the number of characters that are left out at this place. */
export type Part = { readonly line: string } | { readonly omitted: number }

const lineParts = (lines: ReadonlyArray<string>): ReadonlyArray<Part> =>
  lines.map((line) => ({ line }))

const sum = (lines: ReadonlyArray<string>): number =>
  lines.reduce((total, { length }) => total + length, 0)

/**
 * Lays out text without hidden characters in at most `maxLines` lines, which must be even. Of a longer text the
 * beginning and the end are kept, so that nothing can be pushed out of sight unnoticed; what is left out between them
 * is counted, in UTF-16 code units of `text`.
 */
export const layout = (text: string, maxLines: number): ReadonlyArray<Part> => {
  const half = maxLines / 2
  const enough = half * maxColumns
  if (text.length <= 2 * maxLines * maxColumns) {
    const lines = linesOf(text)
    if (lines.length <= maxLines) return lineParts(lines)
    const [head, tail] = [lines.slice(0, half), lines.slice(-half)]
    return [
      ...lineParts(head),
      { omitted: text.length - sum(head) - sum(tail) },
      ...lineParts(tail),
    ]
  }
  // No line has more code units than columns, so the lines that are kept lie within these two pieces. A combining mark
  // at the cut would change the quotation mark before it.
  const head = linesOf(text.slice(0, enough).toWellFormed()).slice(0, half)
  const end = text
    .slice(-enough)
    .toWellFormed()
    .replace(/^\p{M}+/u, "")
  const tail = linesOf(end).slice(-half)
  return [...lineParts(head), { omitted: text.length - sum(head) - sum(tail) }, ...lineParts(tail)]
}

/** The text that says how much is left out. */
export const omission = (count: number): string =>
  `… ${count} more character${count === 1 ? "" : "s"} …`

/** The text with backslashes, quotation marks and hidden characters escaped: different texts give different ones. */
const forQuotes = (text: string): string => spelledOut(text.replaceAll(/[\\"]/g, "\\$&"))

const quotedParts = (text: string, maxLines: number): ReadonlyArray<string> => {
  const parts = layout(forQuotes(text), maxLines)
  return parts.length === 0
    ? ['""']
    : parts.map((part) => ("line" in part ? `"${part.line}"` : omission(part.omitted)))
}

/** The text in quotation marks on one line, of at most `maxLines` times 72 columns and a count of what is left out. */
export const quoted = (text: string, maxLines = 2): string => quotedParts(text, maxLines).join(" ")

/**
 * The quoted text after its source: on the same line if it fits, otherwise on separate indented lines, each in quotation
 * marks, so that none can be mistaken for a line of the server.
 */
export const attributed = (source: string, text: string, maxLines = 12): string => {
  const parts = quotedParts(text, maxLines)
  const [only, ...others] = parts
  return only !== undefined && others.length === 0
    ? `${source}: ${only}`
    : `${source}:\n${parts.map((part) => `  ${part}`).join("\n")}`
}
