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
        return Result.fail(`Failed to find context '${chunk.context}' in ${path}`)
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
        `Failed to find expected lines in ${path}:\n${written.oldLines.join("\n")}`,
      )
    }
    replacements.push(found)
    position = found.at + found.count
  }
  // Stable: what is inserted at one place stays in the order of the patch.
  return Result.succeed(replacements.toSorted((a, b) => a.at - b.at))
}

const overlap = (replacements: ReadonlyArray<Replacement>): boolean =>
  replacements.some((r, i) => {
    const before = replacements[i - 1]
    return before !== undefined && before.at + before.count > r.at
  })

/** The lines a replacement puts down, with their ends. */
const laid = (source: Source, { at, count, lines, origins }: Replacement): ReadonlyArray<string> =>
  lines.map((line, i) => {
    const origin = origins[i]
    const kept = origin !== undefined && origin < count ? source.whole[at + origin] : undefined
    return kept ?? `${line}${source.lineEnd}`
  })

const splice = (
  source: Source,
  replacements: ReadonlyArray<Replacement>,
): ReadonlyArray<string> => {
  if (overlap(replacements)) {
    // An end-of-file chunk may lie over an earlier one: the later one is applied first (§8.3).
    const lines = [...source.whole]
    for (const r of replacements.toReversed()) lines.splice(r.at, r.count, ...laid(source, r))
    return lines
  }
  const lines: Array<string> = []
  let from = 0
  for (const r of replacements) {
    for (; from < r.at; from++) lines.push(source.whole[from] ?? "")
    for (const line of laid(source, r)) lines.push(line)
    from = r.at + r.count
  }
  for (; from < source.whole.length; from++) lines.push(source.whole[from] ?? "")
  return lines
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
