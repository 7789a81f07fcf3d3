/**
 * The lines of a file in pieces, in bounded memory whatever the file holds. Lines are separated before they are decoded, so
 * that invalid UTF-8 spoils its own line alone. What follows the last newline is no line.
 */
import * as Effect from "effect/Effect"
import type { FileFault, FileHandle } from "../Files.ts"

export interface RawLine {
  readonly offset: number
  /** Behind its newline. */
  readonly end: number
  /** Undefined for one that is too long or no UTF-8. */
  readonly text: string | undefined
}

/** Of one read; a page of a long log is some of them. */
const chunkBytes = 256 * 1024

/** A longer line is none that anybody wrote on purpose. */
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

const utf8 = new TextDecoder("utf-8", { fatal: true })

export const decodeText = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

export class LineReader {
  private readonly handle: Pick<FileHandle, "read">
  private readonly end: number
  /** Of the next read. */
  private at: number
  /** Of the line that is being put together. */
  private lineStart: number
  private pieces: Array<Uint8Array> = []
  private pending = 0

  /** @param from the beginning of a line @param end lines that do not end before it are not read */
  constructor(handle: Pick<FileHandle, "read">, from: number, end: number) {
    this.handle = handle
    this.at = from
    this.lineStart = from
    this.end = end
  }

  /** Behind the last whole line read so far. */
  get offset(): number {
    return this.lineStart
  }

  /** Those that the next piece of the file ends, which may be none; undefined at the end. */
  get next(): Effect.Effect<ReadonlyArray<RawLine> | undefined, FileFault> {
    return Effect.suspend(() => {
      const length = Math.min(chunkBytes, this.end - this.at)
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
    let from = 0
    for (;;) {
      const stop = bytes.indexOf(newline, from)
      if (stop === -1) break
      lines.push(this.finish(bytes.subarray(from, stop)))
      from = stop + 1
    }
    this.keep(bytes.subarray(from))
    return lines
  }

  private keep(rest: Uint8Array): void {
    this.pending += rest.length
    // Nobody will read it: its length is all that counts.
    if (this.pending > maxLineBytes) this.pieces = []
    else if (rest.length > 0) this.pieces.push(rest)
  }

  private finish(last: Uint8Array): RawLine {
    const length = this.pending + last.length
    const offset = this.lineStart
    const end = offset + length + 1
    const text =
      length > maxLineBytes
        ? undefined
        : decodeText(this.pending === 0 ? last : join([...this.pieces, last]))
    this.pieces = []
    this.pending = 0
    this.lineStart = end
    return { offset, end, text }
  }
}
