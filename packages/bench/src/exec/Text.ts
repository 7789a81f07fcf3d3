/** Texts of files, and of patches that change them. Pure. */

const lineOf = (index: number): string => `line ${index} of a file that is long enough to matter`

const changed = (line: string): string => `${line}, changed`

/** A file of so many lines. */
export const fileOf = (lines: number): string =>
  Array.from({ length: lines }, (_, index) => `${lineOf(index)}\n`).join("")

/** One changed line with a line of context on each side. */
const chunkAt = (index: number, lines: number): string =>
  [
    "@@",
    ...(index > 0 ? [` ${lineOf(index - 1)}`] : []),
    `-${lineOf(index)}`,
    `+${changed(lineOf(index))}`,
    ...(index + 1 < lines ? [` ${lineOf(index + 1)}`] : []),
  ].join("\n")

const wholeChunk = (lines: number): string => {
  const all = Array.from({ length: lines }, (_, index) => lineOf(index))
  return ["@@", ...all.map((line) => `-${line}`), ...all.map((line) => `+${changed(line)}`)].join(
    "\n",
  )
}

/** A patch that changes `count` of the file's `lines`, evenly spread; all lines become one hunk. */
export const updateOf = (name: string, lines: number, count: number): string => {
  const step = Math.floor(lines / count)
  const chunks =
    count === lines
      ? [wholeChunk(lines)]
      : Array.from({ length: count }, (_, index) => chunkAt(index * step, lines))
  return `*** Update File: ${name}\n${chunks.join("\n")}\n`
}

/** Joins parts to a patch. */
export const patchOf = (parts: ReadonlyArray<string>): string =>
  `*** Begin Patch\n${parts.join("")}*** End Patch\n`
