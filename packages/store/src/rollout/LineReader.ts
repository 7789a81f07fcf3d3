/**
 * Reads the lines of a file in pieces, in bounded memory whatever the file contains. Lines are
 * separated before they are decoded, so that invalid UTF-8 damages only its own line. Bytes after
 * the last newline are not a line.
 */
import * as Effect from "effect/Effect"
import type { FileFault, FileHandle } from "../Files.ts"

/** One line of a file. */
export interface RawLine {
  /** Offset of its first byte. */
  readonly offset: number
  /** Offset behind its newline. */
  readonly end: number
  /** Undefined when the line is too long or is not valid UTF-8. */
  readonly text: string | undefined
}

/** Most bytes per read. */
const chunkBytes = 256 * 1024

/** A longer line is treated as unreadable; no writer produces one. */
export const maxLineBytes = 64 * 1024 * 1024

const newline = 0x0a

const join = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only] = pieces
  if (pieces.length === 1 && only !== undefined) return only
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

const byteOrderMark = "\ufeff"

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** A byte order mark at the beginning of a text is not part of it. */
const withoutMark = (text: string): string =>
  text.startsWith(byteOrderMark) ? text.slice(1) : text

/** Decodes UTF-8 with its byte order marks; undefined for invalid bytes. */
const decodeWhole = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Decodes UTF-8; undefined for invalid bytes. */
export const decodeText = (bytes: Uint8Array): string | undefined => {
  const text = decodeWhole(bytes)
  return text === undefined ? undefined : withoutMark(text)
}

/** Reads whole lines of a range of a file, forward. */
export class LineReader {
  private readonly handle: Pick<FileHandle, "read">
  private readonly end: number
  /** Offset of the next read. */
  private at: number
  /** Offset of the line that is being assembled. */
  private lineStart: number
  private pieces: Array<Uint8Array> = []
  private pending = 0
  /** Bytes of the next read. */
  private length: number

  /**
   * @param from the beginning of a line
   * @param end only lines that end at or before this offset are read
   * @param firstBytes bytes of the first read; each further one is twice as long, up to a limit
   */
  constructor(
    handle: Pick<FileHandle, "read">,
    from: number,
    end: number,
    firstBytes: number = chunkBytes,
  ) {
    this.handle = handle
    this.at = from
    this.lineStart = from
    this.end = end
    this.length = Math.min(firstBytes, chunkBytes)
  }

  /** Offset behind the last whole line read so far. */
  get offset(): number {
    return this.lineStart
  }

  /** The lines that end in the next piece of the file, which may be none; undefined at the end. */
  get next(): Effect.Effect<ReadonlyArray<RawLine> | undefined, FileFault> {
    return Effect.suspend(() => {
      const length = Math.min(this.length, this.end - this.at)
      this.length = Math.min(2 * this.length, chunkBytes)
      if (length <= 0) return Effect.as(Effect.void, undefined)
      return Effect.map(this.handle.read(this.at, length), (bytes) => {
        if (bytes.length === 0) return undefined
        this.at += bytes.length
        return this.split(bytes)
      })
    })
  }

  private split(bytes: Uint8Array): ReadonlyArray<RawLine> {
    const lines: Array<RawLine> = []
    const stop = bytes.indexOf(newline)
    if (stop !== -1) {
      lines.push(this.finish(bytes.subarray(0, stop)))
      const last = bytes.lastIndexOf(newline)
      if (last > stop) this.addLines(bytes.subarray(stop + 1, last), lines)
      this.keep(bytes.subarray(last + 1))
    } else this.keep(bytes)
    return lines
  }

  /**
   * Adds whole lines, the last without its newline. Decodes all at once, which costs a fraction of
   * decoding each, unless one is not valid UTF-8.
   */
  private addLines(bytes: Uint8Array, lines: Array<RawLine>): void {
    const texts = decodeWhole(bytes)?.split("\n")
    let from = 0
    for (let i = 0; from <= bytes.length; i++) {
      const next = bytes.indexOf(newline, from)
      const stop = next === -1 ? bytes.length : next
      const text = texts?.[i]
      lines.push(
        text === undefined
          ? this.finish(bytes.subarray(from, stop))
          : this.finished(stop - from, withoutMark(text)),
      )
      from = stop + 1
    }
  }

  private keep(rest: Uint8Array): void {
    this.pending += rest.length
    // Too long to be read: only its length is kept.
    if (this.pending > maxLineBytes) this.pieces = []
    else if (rest.length > 0) this.pieces.push(rest)
  }

  private finish(last: Uint8Array): RawLine {
    const length = this.pending + last.length
    const text =
      length > maxLineBytes
        ? undefined
        : decodeText(this.pending === 0 ? last : join([...this.pieces, last]))
    this.pieces = []
    this.pending = 0
    return this.finished(length, text)
  }

  /** The line that starts behind the last one. */
  private finished(length: number, text: string | undefined): RawLine {
    const offset = this.lineStart
    const end = offset + length + 1
    this.lineStart = end
    return { offset, end, text }
  }
}
