/**
 * Splits a stream of bytes into lines incrementally: takes bytes, returns frames, performs no I/O
 * and uses no fiber.
 *
 * Splits at the byte 0x0a before decoding, so a character that a chunk boundary cuts is decoded
 * correctly, and an invalid line never affects the next one (L13). Holds at most one unfinished
 * line of `maxBytes`, whatever the size of the chunks, and reads each byte a constant number of
 * times. Of a longer line it keeps what identifies the message, so that its sender gets a response.
 *
 * Removed: the CR before an LF, one byte order mark at the start of a line, and lines of blanks
 * only.
 */
import type { Frame } from "@colloquy/protocol/Connection"
import * as EnvelopeScan from "@colloquy/protocol/EnvelopeScan"

// Not imported by name: a named import would load all members of the module, including files and
// blobs.
const NodeBuffer = process.getBuiltinModule("node:buffer")

/** 64 MiB: the longest line of a stored conversation, so a longer prompt could not be recorded. */
export const defaultMaxBytes = 64 * 1024 * 1024

/** The state of splitting one stream. */
export interface Lines {
  /** The frames that this chunk completes. The chunk must not be changed afterwards. */
  readonly push: (chunk: Uint8Array) => ReadonlyArray<Frame>
  /** The last line, if it came without an LF. `push` must not be called afterwards. */
  readonly end: () => ReadonlyArray<Frame>
}

const lineFeed = 0x0a
const space = 0x20
const byteOrderMark = 0xfeff
const blank = /^[ \t\r]*$/

/**
 * Pieces below this size are copied together, so that a line sent byte by byte does not cost an
 * object per byte.
 */
const mergeBelowBytes = 64 * 1024

const clean = (line: string): string => {
  const from = line.charCodeAt(0) === byteOrderMark ? 1 : 0
  const to = line.endsWith("\r") ? line.length - 1 : line.length
  return from === 0 && to === line.length ? line : line.slice(from, to)
}

const pushText = (out: Array<Frame>, line: string) => {
  const text = clean(line)
  if (text.length === 0 || (text.charCodeAt(0) <= space && blank.test(text))) return
  out.push({ _tag: "Text", text })
}

const scanned = (line: Buffer): EnvelopeScan.EnvelopeScan => {
  const scan = EnvelopeScan.make()
  scan.push(line)
  return scan
}

class LineSplitter implements Lines {
  private readonly limit: number
  private readonly setting: string | undefined
  /** Pieces of the unfinished line. */
  private parts: Array<Buffer> = []
  /** Length of the unfinished line, including bytes that were discarded. */
  private heldBytes = 0
  /** Reads the discarded bytes of a line that is too long, to find out which message it was. */
  private discarding: EnvelopeScan.EnvelopeScan | undefined

  constructor(maxBytes: number, setting: string | undefined) {
    // A longer text does not fit a string.
    this.limit = Math.min(maxBytes, NodeBuffer.constants.MAX_STRING_LENGTH)
    this.setting = setting
  }

  readonly push: Lines["push"] = (bytes) => {
    const chunk = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const out: Array<Frame> = []
    const last = chunk.lastIndexOf(lineFeed)
    if (last === -1) {
      this.hold(chunk)
      return out
    }
    let start = 0
    if (this.heldBytes > 0) {
      const first = chunk.indexOf(lineFeed)
      this.hold(chunk.subarray(0, first))
      this.finishHeld(out)
      start = first + 1
    }
    if (start <= last) this.pushBlock(out, chunk.subarray(start, last))
    this.hold(chunk.subarray(last + 1))
    return out
  }

  readonly end: Lines["end"] = () => {
    const out: Array<Frame> = []
    if (this.heldBytes > 0) this.finishHeld(out)
    return out
  }

  /** Adds bytes to the unfinished line, or to the scan of one that is too long. */
  private hold(part: Buffer): void {
    if (part.length === 0) return
    this.heldBytes += part.length
    if (this.discarding !== undefined) return this.discarding.push(part)
    if (this.heldBytes > this.limit) {
      this.discarding = EnvelopeScan.make()
      for (const held of this.parts) this.discarding.push(held)
      this.discarding.push(part)
      this.parts = []
      return
    }
    this.parts.push(this.merged(part))
  }

  /** The part, joined with the pieces before it that are not longer, which are removed. */
  private merged(part: Buffer): Buffer {
    let last = part
    let before = this.parts.at(-1)
    // Pieces merge like the digits of a binary counter: a byte is copied at most log2(mergeBelowBytes) times.
    while (
      before !== undefined &&
      before.length <= last.length &&
      before.length + last.length <= mergeBelowBytes
    ) {
      last = Buffer.concat([before, last])
      this.parts.pop()
      before = this.parts.at(-1)
    }
    return last
  }

  private finishHeld(out: Array<Frame>): void {
    const held = this.parts
    const bytes = this.heldBytes
    const scan = this.discarding
    // Released before the line is decoded, so that a long line is in memory one time less.
    this.parts = []
    this.heldBytes = 0
    this.discarding = undefined
    if (scan !== undefined) return this.pushTooLong(out, bytes, scan)
    const [first] = held
    const line = held.length === 1 && first !== undefined ? first : Buffer.concat(held)
    held.length = 0
    this.pushLine(out, line)
  }

  /** Takes whole lines without the last LF. No UTF-8 sequence contains an LF, so every line is valid when the block is. */
  private pushBlock(out: Array<Frame>, block: Buffer): void {
    if (block.length <= this.limit && NodeBuffer.isUtf8(block)) {
      for (const line of block.toString("utf8").split("\n")) pushText(out, line)
      return
    }
    let start = 0
    let next: number
    while ((next = block.indexOf(lineFeed, start)) !== -1) {
      this.pushLine(out, block.subarray(start, next))
      start = next + 1
    }
    this.pushLine(out, block.subarray(start))
  }

  private pushLine(out: Array<Frame>, line: Buffer): void {
    if (line.length > this.limit) {
      this.pushTooLong(out, line.length, scanned(line))
    } else if (NodeBuffer.isUtf8(line)) {
      pushText(out, line.toString("utf8"))
    } else {
      out.push({ _tag: "NotUtf8", bytes: line.length })
    }
  }

  private pushTooLong(out: Array<Frame>, bytes: number, scan: EnvelopeScan.EnvelopeScan): void {
    const envelope = scan.end()
    out.push({
      _tag: "TooLong",
      bytes,
      maxBytes: this.limit,
      ...(this.setting === undefined ? {} : { setting: this.setting }),
      ...(envelope === undefined ? {} : { envelope }),
    })
  }
}

/**
 * Starts at the beginning of a stream.
 *
 * @param maxBytes longest line in bytes, without its LF; a longer one yields one `TooLong` frame
 * @param setting name of the setting that determines `maxBytes`, for the message about that frame
 */
export const make = (maxBytes: number = defaultMaxBytes, setting?: string): Lines =>
  new LineSplitter(maxBytes, setting)
