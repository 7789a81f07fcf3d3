/**
 * Applies the chunks of an update to a text. Pure. Lines that are not replaced, context lines among them, stay as they
 * are in the file, with their line ends (as in version 0.169 of the original); new lines get the line end of the file's
 * first line. A byte order mark stays, and the result always ends with a line end.
 */
import * as Result from "effect/Result"
import type { Chunk } from "./PatchText.ts"
import * as LineSearch from "./LineSearch.ts"

const byteOrderMark = "\ufeff"

interface Replacement {
  readonly at: number
  readonly count: number
  readonly lines: ReadonlyArray<string>
  /** See `Chunk`; relative to `at`. */
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

/** The last old line may be empty and stand for the final line end of the file, which is no line itself. */
const seekChunk = (
  seeker: LineSearch.LineSearch,
  { isEndOfFile, newLines, oldLines, origins }: Chunk,
  position: number,
): Replacement | undefined => {
  const at = seeker.find(oldLines, position, isEndOfFile)
  if (at !== undefined) return { at, count: oldLines.length, lines: newLines, origins }
  if (oldLines.at(-1) !== "") return undefined
  const shorter = oldLines.slice(0, -1)
  const again = seeker.find(shorter, position, isEndOfFile)
  if (again === undefined) return undefined
  const lines = newLines.at(-1) === "" ? newLines.slice(0, -1) : newLines
  return { at: again, count: shorter.length, lines, origins }
}

const tooLong = (path: string): string =>
  `Failed to find expected lines in ${path}: they repeat too often to be searched for, use shorter chunks`

/** The chunk as it is compared with a file that starts with a byte order mark. */
const comparable = (source: Source, chunk: Chunk): Chunk =>
  source.mark === ""
    ? chunk
    : {
        ...chunk,
        oldLines: withoutMark(chunk.oldLines),
        newLines: withoutMark(chunk.newLines),
      }

/** Inserts at the end of the file, before the empty text that follows its last line end. */
const insertionAtEnd = ({ texts }: Source, lines: ReadonlyArray<string>): Replacement => ({
  at: texts.at(-1) === "" ? texts.length - 1 : texts.length,
  count: 0,
  lines,
  origins: [],
})

const locate = (
  source: Source,
  chunks: ReadonlyArray<Chunk>,
  path: string,
): Result.Result<ReadonlyArray<Replacement>, string> => {
  const seeker = LineSearch.make(source.texts)
  const notFound = (message: string) => Result.fail(seeker.isExhausted() ? tooLong(path) : message)
  const replacements: Array<Replacement> = []
  let position = 0
  for (const written of chunks) {
    const chunk = comparable(source, written)
    if (chunk.context !== undefined) {
      const at = seeker.find([chunk.context], position, false)
      if (at === undefined) {
        return notFound(`Failed to find context '${chunk.context}' in ${path}`)
      }
      position = at + 1
    }
    if (chunk.oldLines.length === 0) {
      replacements.push(insertionAtEnd(source, chunk.newLines))
      continue
    }
    const found = seekChunk(seeker, chunk, position)
    if (found === undefined) {
      return notFound(`Failed to find expected lines in ${path}:\n${written.oldLines.join("\n")}`)
    }
    replacements.push(found)
    position = found.at + found.count
  }
  // The sort is stable: insertions at one position stay in the order of the patch.
  return Result.succeed(replacements.toSorted((a, b) => a.at - b.at))
}

/** The lines of a replacement with their ends. */
const linesOf = (source: Source, replacement: Replacement): ReadonlyArray<string> => {
  const { at, count, lines, origins } = replacement
  return lines.map((line, i) => {
    const origin = origins[i]
    const kept = origin !== undefined && origin < count ? source.whole[at + origin] : undefined
    return kept ?? `${line}${source.lineEnd}`
  })
}

/**
 * Applies the replacements, the last one first: an end-of-file chunk may overlap an earlier one, which then
 * replaces what the later one inserted, as in the original. Each line is moved a bounded number of times, however they
 * overlap.
 */
const splice = (
  source: Source,
  replacements: ReadonlyArray<Replacement>,
): ReadonlyArray<string> => {
  /** Finished lines in reverse order; they are preceded by the lines of the source up to `cut`. */
  const finished: Array<string> = []
  let cut = source.whole.length
  const keepFrom = (from: number) => {
    while (cut > from) finished.push(source.whole[--cut] ?? "")
  }
  for (const replacement of replacements.toReversed()) {
    const { at, count } = replacement
    keepFrom(Math.min(at + count, cut))
    finished.length = Math.max(0, finished.length - (at + count - cut))
    cut = at
    for (const line of linesOf(source, replacement).toReversed()) finished.push(line)
  }
  keepFrom(0)
  return finished.toReversed()
}

/**
 * The new text, or why the chunks do not fit: `Failed to find context …`, `Failed to find expected lines …`.
 * `path` is used in the message only.
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
