/**
 * What a text becomes when the chunks of an update are applied (§8.3). Pure. Lines that are not replaced, context lines
 * among them, stay as the file has them, with their line ends (0.169, `leading_ws_fuzzy`); new ones get the line end of
 * the file, which is the first it has. A byte order mark stays where it is, and the result always ends in a line end.
 */
import * as Result from "effect/Result"
import type { Chunk } from "./PatchText.ts"
import * as Seek from "./Seek.ts"

const byteOrderMark = "\ufeff"

interface Replacement {
  readonly at: number
  readonly count: number
  readonly lines: ReadonlyArray<string>
  /** See `Chunk`; counted from `at`. */
  readonly origins: ReadonlyArray<number | undefined>
}

/** The lines of a text, without and with their ends. */
interface Source {
  readonly mark: string
  readonly texts: ReadonlyArray<string>
  readonly whole: ReadonlyArray<string>
  readonly lineEnd: string
}

const sourceOf = (content: string): Source => {
  const mark = content.startsWith(byteOrderMark) ? byteOrderMark : ""
  const pieces = content.slice(mark.length).split("\n")
  const last = pieces.pop() ?? ""
  const texts = pieces.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))
  const lineEnd = pieces[0]?.endsWith("\r") === true ? "\r\n" : "\n"
  const whole = pieces.map((line) => `${line}\n`)
  if (last !== "") {
    texts.push(last)
    whole.push(`${last}${lineEnd}`)
  }
  return { mark, texts, whole, lineEnd }
}

const withoutMark = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line) => (line.startsWith(byteOrderMark) ? line.slice(1) : line))

/** The last old line may stand for the line end of the file, which is no line of its own. */
const seekChunk = (
  seeker: Seek.Seeker,
  { isEndOfFile, newLines, oldLines, origins }: Chunk,
  position: number,
): Replacement | undefined => {
  const at = seeker.seek(oldLines, position, isEndOfFile)
  if (at !== undefined) return { at, count: oldLines.length, lines: newLines, origins }
  if (oldLines.at(-1) !== "") return undefined
  const shorter = oldLines.slice(0, -1)
  const again = seeker.seek(shorter, position, isEndOfFile)
  if (again === undefined) return undefined
  const lines = newLines.at(-1) === "" ? newLines.slice(0, -1) : newLines
  return { at: again, count: shorter.length, lines, origins }
}

const tooLong = (path: string): string =>
  `Failed to find expected lines in ${path}: they repeat too often to be searched for, use shorter chunks`

const locate = (
  source: Source,
  chunks: ReadonlyArray<Chunk>,
  path: string,
): Result.Result<ReadonlyArray<Replacement>, string> => {
  const seeker = Seek.make(source.texts)
  const replacements: Array<Replacement> = []
  let position = 0
  for (const written of chunks) {
    const chunk =
      source.mark === ""
        ? written
        : {
            ...written,
            oldLines: withoutMark(written.oldLines),
            newLines: withoutMark(written.newLines),
          }
    if (chunk.context !== undefined) {
      const at = seeker.seek([chunk.context], position, false)
      if (at === undefined) {
        return Result.fail(
          seeker.isExhausted()
            ? tooLong(path)
            : `Failed to find context '${chunk.context}' in ${path}`,
        )
      }
      position = at + 1
    }
    if (chunk.oldLines.length === 0) {
      const at = source.texts.at(-1) === "" ? source.texts.length - 1 : source.texts.length
      replacements.push({ at, count: 0, lines: chunk.newLines, origins: [] })
      continue
    }
    const found = seekChunk(seeker, chunk, position)
    if (found === undefined) {
      return Result.fail(
        seeker.isExhausted()
          ? tooLong(path)
          : `Failed to find expected lines in ${path}:\n${written.oldLines.join("\n")}`,
      )
    }
    replacements.push(found)
    position = found.at + found.count
  }
  // Stable: what is inserted at one place stays in the order of the patch.
  return Result.succeed(replacements.toSorted((a, b) => a.at - b.at))
}

/** The lines a replacement puts down, with their ends. */
const laid = (source: Source, { at, count, lines, origins }: Replacement): ReadonlyArray<string> =>
  lines.map((line, i) => {
    const origin = origins[i]
    const kept = origin !== undefined && origin < count ? source.whole[at + origin] : undefined
    return kept ?? `${line}${source.lineEnd}`
  })

/**
 * The lines with the replacements made, the last one first: an end-of-file chunk may lie over an earlier one, which then
 * replaces what the later one put there (§8.3). Each line is moved a bounded number of times, however they overlap.
 */
const splice = (
  source: Source,
  replacements: ReadonlyArray<Replacement>,
): ReadonlyArray<string> => {
  /** What is settled already, the first line last; before it stand the lines of the source up to `cut`. */
  const settled: Array<string> = []
  let cut = source.whole.length
  const settle = (from: number) => {
    while (cut > from) settled.push(source.whole[--cut] ?? "")
  }
  for (const replacement of replacements.toReversed()) {
    const { at, count } = replacement
    settle(Math.min(at + count, cut))
    settled.length = Math.max(0, settled.length - (at + count - cut))
    cut = at
    for (const line of laid(source, replacement).toReversed()) settled.push(line)
  }
  settle(0)
  return settled.toReversed()
}

/**
 * The new text, or why the chunks do not fit: `Failed to find context …`, `Failed to find expected lines …` (§8.3).
 * `path` is for the message only.
 */
export const apply = (
  content: string,
  chunks: ReadonlyArray<Chunk>,
  path: string,
): Result.Result<string, string> => {
  const source = sourceOf(content)
  return Result.map(
    locate(source, chunks, path),
    (replacements) => source.mark + splice(source, replacements).join(""),
  )
}
