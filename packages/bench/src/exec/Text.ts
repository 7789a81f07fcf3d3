/** Files and the patches that change them, of any size. Pure. */

const lineOf = (index: number): string => `line ${index} of a file that is long enough to matter`

const changed = (line: string): string => `${line}, changed`

export const fileOf = (lines: number): string =>
  Array.from({ length: lines }, (_, index) => `${lineOf(index)}\n`).join("")

/** One changed line with a line on each side. */
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

/** Changes `count` of the file's `lines`, spread over it; as many as there are: in one piece. */
export const updateOf = (name: string, lines: number, count: number): string => {
  const step = Math.floor(lines / count)
  const chunks =
    count === lines
      ? [wholeChunk(lines)]
      : Array.from({ length: count }, (_, index) => chunkAt(index * step, lines))
  return `*** Update File: ${name}\n${chunks.join("\n")}\n`
}

export const patchOf = (parts: ReadonlyArray<string>): string =>
  `*** Begin Patch\n${parts.join("")}*** End Patch\n`
