/**
 * Parses the patch language into hunks. Pure; knows no files. Where the documentation of the original and its program
 * of version 0.169 differ, this follows the program: markers may be padded, `*** Environment ID:` may precede the first
 * hunk, a CR before the line feed is not part of the line.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import { trim, trimEnd } from "./Whitespace.ts"

/** Lines to be found in a file, and the lines that replace them. */
export interface Chunk {
  /** The search starts after this line; undefined: it continues where the last chunk ended. */
  readonly context: string | undefined
  /** Lines that are searched and replaced, without line ends. */
  readonly oldLines: ReadonlyArray<string>
  /** Lines that replace them, without line ends. */
  readonly newLines: ReadonlyArray<string>
  /** For each new line the index of the old line that it repeats: a context line stays as it is in the file. */
  readonly origins: ReadonlyArray<number | undefined>
  /** True: the old lines are the last ones of the file. */
  readonly isEndOfFile: boolean
}

/** One operation of a patch, with paths as written. */
export type Hunk =
  | { readonly _tag: "Add"; readonly path: string; readonly content: string }
  | { readonly _tag: "Delete"; readonly path: string }
  | {
      readonly _tag: "Update"
      readonly path: string
      readonly movePath: string | undefined
      readonly chunks: ReadonlyArray<Chunk>
    }

/**
 * The text is no valid patch. `message` is what the model reads; `standalone` is what the original's separate
 * `apply_patch` program prints for the same error.
 */
export class PatchSyntaxError extends Data.TaggedError("PatchSyntaxError")<{
  readonly reason: string
  /** Number of the line, where 1 is the Begin marker; undefined: the error concerns the whole patch. */
  readonly line: number | undefined
}> {
  override get message(): string {
    return this.line === undefined
      ? `invalid patch: ${this.reason}`
      : `invalid hunk at line ${this.line}, ${this.reason}`
  }
  get standalone(): string {
    return this.line === undefined
      ? `Invalid patch: ${this.reason}`
      : `Invalid patch hunk on line ${this.line}: ${this.reason}`
  }
}

const beginMarker = "*** Begin Patch"
const end = "*** End Patch"
const add = "*** Add File: "
const remove = "*** Delete File: "
const update = "*** Update File: "
const move = "*** Move to: "
const endOfFile = "*** End of File"
const environment = "*** Environment ID:"

const notFirst = "The first line of the patch must be '*** Begin Patch'"
const notLast = "The last line of the patch must be '*** End Patch'"
const noHeader = (line: string): string =>
  `'${line}' is not a valid hunk header. Valid hunk headers: '*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'`
const unexpected = (line: string): string =>
  `Unexpected line found in update hunk: '${line}'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)`

const fault = (reason: string, line?: number): PatchSyntaxError =>
  new PatchSyntaxError({ reason, line })

/** Lines without their ends; a CR before a line feed belongs to the line end. */
const linesOf = (text: string): Array<string> =>
  text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))

const boundaryFault = (lines: ReadonlyArray<string>): PatchSyntaxError | undefined => {
  if (trim(lines[0] ?? "") !== beginMarker) return fault(notFirst)
  return lines.length > 1 && trim(lines.at(-1) ?? "") === end ? undefined : fault(notLast)
}

/** Models that call the program without a shell sometimes send the heredoc that a shell would have unwrapped. */
const unwrapped = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const first = lines[0] ?? ""
  const isWrapped =
    lines.length >= 4 &&
    (first === "<<EOF" || first === "<<'EOF'" || first === '<<"EOF"') &&
    (lines.at(-1) ?? "").endsWith("EOF")
  return isWrapped ? lines.slice(1, -1) : lines
}

/** Position of the reader: `at` is the index of the next line, in lines without the End marker. */
interface Cursor {
  readonly lines: ReadonlyArray<string>
  at: number
}

const peek = (cursor: Cursor): string | undefined => cursor.lines[cursor.at]

const isBlank = (line: string | undefined): boolean => line !== undefined && trim(line) === ""

const readAdd = (cursor: Cursor, path: string): Hunk => {
  const content: Array<string> = []
  for (let line = peek(cursor); line?.startsWith("+"); line = peek(cursor)) {
    content.push(line.slice(1), "\n")
    cursor.at++
  }
  return { _tag: "Add", path, content: content.join("") }
}

/** The `@@` line at the beginning of a chunk; undefined: there is none. A bare `@@` has no context. */
const contextOf = (line: string): { readonly context: string | undefined } | undefined => {
  if (trimEnd(line) === "@@") return { context: undefined }
  return line.startsWith("@@ ") ? { context: line.slice(3) } : undefined
}

const readLines = (cursor: Cursor): Pick<Chunk, "oldLines" | "newLines" | "origins"> => {
  const oldLines: Array<string> = []
  const newLines: Array<string> = []
  const origins: Array<number | undefined> = []
  for (let line = peek(cursor); line !== undefined; line = peek(cursor)) {
    const text = line.slice(1)
    const sign = line === "" ? " " : line[0]
    if (sign !== " " && sign !== "+" && sign !== "-") break
    if (sign !== "+") oldLines.push(text)
    if (sign !== "-") {
      newLines.push(text)
      origins.push(sign === " " ? oldLines.length - 1 : undefined)
    }
    cursor.at++
  }
  return { oldLines, newLines, origins }
}

const readChunk = (cursor: Cursor, isFirst: boolean): Chunk | PatchSyntaxError => {
  const first = peek(cursor) ?? ""
  const header = contextOf(first)
  if (header === undefined && !isFirst) {
    const reason = `Expected update hunk to start with a @@ context marker, got: '${first}'`
    return fault(reason, cursor.at + 1)
  }
  if (header !== undefined) cursor.at++
  const lines = readLines(cursor)
  const next = peek(cursor)
  const isEndOfFile = next !== undefined && trimEnd(next) === endOfFile
  if (lines.oldLines.length === 0 && lines.newLines.length === 0) {
    const reason =
      next === undefined || isEndOfFile
        ? "Update hunk does not contain any lines"
        : unexpected(next)
    return fault(reason, cursor.at + 1)
  }
  if (isEndOfFile) cursor.at++
  return { context: header?.context, ...lines, isEndOfFile }
}

const readUpdate = (cursor: Cursor, path: string): Hunk | PatchSyntaxError => {
  const headerLine = cursor.at
  const next = peek(cursor)
  const movePath = next?.startsWith(move) === true ? next.slice(move.length) : undefined
  if (movePath !== undefined) cursor.at++
  const chunks: Array<Chunk> = []
  for (let line = peek(cursor); line !== undefined; line = peek(cursor)) {
    if (isBlank(line)) {
      cursor.at++
      continue
    }
    if (line.startsWith("***")) break
    const chunk = readChunk(cursor, chunks.length === 0)
    if (chunk instanceof PatchSyntaxError) return chunk
    chunks.push(chunk)
  }
  return chunks.length === 0
    ? fault(`Update file hunk for path '${path}' is empty`, headerLine)
    : { _tag: "Update", path, movePath, chunks }
}

const readHunk = (cursor: Cursor): Hunk | PatchSyntaxError => {
  const header = trim(peek(cursor) ?? "")
  cursor.at++
  if (header.startsWith(add)) return readAdd(cursor, header.slice(add.length))
  if (header.startsWith(remove)) return { _tag: "Delete", path: header.slice(remove.length) }
  if (header.startsWith(update)) return readUpdate(cursor, header.slice(update.length))
  return header === end ? fault(notLast) : fault(noHeader(header), cursor.at)
}

/** Skips the line that says for which of several machines the patch is meant: here is only one (0.169). */
const skipEnvironment = (cursor: Cursor): PatchSyntaxError | undefined => {
  let seen = false
  for (let line = trim(peek(cursor) ?? ""); line.startsWith(environment);) {
    if (seen) return fault("apply_patch environment_id cannot be specified more than once")
    if (trim(line.slice(environment.length)) === "") {
      return fault("apply_patch environment_id cannot be empty")
    }
    seen = true
    cursor.at++
    line = trim(peek(cursor) ?? "")
  }
  return undefined
}

/** Parses a patch. Returns its hunks in order; a patch may have none. */
export const parse = (text: string): Result.Result<ReadonlyArray<Hunk>, PatchSyntaxError> => {
  const all = linesOf(trim(text))
  const wrong = boundaryFault(all)
  const inner = wrong === undefined ? all : unwrapped(all)
  const stillWrong = inner === all ? wrong : boundaryFault(inner)
  if (stillWrong !== undefined) return Result.fail(stillWrong)
  const cursor: Cursor = { lines: inner.slice(0, -1), at: 1 }
  const environmentFault = skipEnvironment(cursor)
  if (environmentFault !== undefined) return Result.fail(environmentFault)
  const hunks: Array<Hunk> = []
  while (cursor.at < cursor.lines.length) {
    const hunk = readHunk(cursor)
    if (hunk instanceof PatchSyntaxError) return Result.fail(hunk)
    hunks.push(hunk)
  }
  return Result.succeed(hunks)
}
