/**
 * Cuts a stream of bytes into lines, incrementally: bytes in, frames out, no I/O and no fiber.
 *
 * Splits on the byte 0x0a before decoding, so a character cut by a chunk is whole again, and what is wrong with
 * one line never touches the next (L13). Holds at most one unfinished line of `maxBytes`, whatever the size of the
 * chunks it comes in, and reads each byte a constant number of times. Of a longer line it keeps what says which message
 * it was, so that its sender gets a response.
 *
 * Dropped: the CR before an LF, one byte order mark at the start of a line, lines of blanks only.
 */
import type { Frame } from "@colloquy/protocol/Connection"
import * as EnvelopeScan from "@colloquy/protocol/EnvelopeScan"

// Not imported by name: the module that `import` makes of it loads each of its members, files and blobs among them.
const NodeBuffer = process.getBuiltinModule("node:buffer")

/** 64 MiB: the longest line of a stored conversation, so a longer prompt could not be kept. */
export const defaultMaxBytes = 64 * 1024 * 1024

export interface Lines {
  /** The frames that this chunk completes. The chunk must not change afterwards. */
  readonly push: (chunk: Uint8Array) => ReadonlyArray<Frame>
  /** The last line, if it came without LF. Nothing may be pushed after. */
  readonly end: () => ReadonlyArray<Frame>
}

const lineFeed = 0x0a
const space = 0x20
const byteOrderMark = 0xfeff
const blank = /^[ \t\r]*$/

/** Pieces below this size are copied together, so that a line sent byte by byte costs no object per byte. */
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

/**
 * @param maxBytes longest line in bytes, without its LF; a longer one gives one `TooLong` frame
 * @param setting name of the setting that gives `maxBytes`, for that frame
 */
export const make = (maxBytes: number = defaultMaxBytes, setting?: string): Lines => {
  // A longer text does not fit a string.
  const limit = Math.min(maxBytes, NodeBuffer.constants.MAX_STRING_LENGTH)
  let parts: Array<Buffer> = []
  let heldBytes = 0
  /** Reads what is discarded of a line that is too long. */
  let discarding: EnvelopeScan.EnvelopeScan | undefined

  const pushTooLong = (out: Array<Frame>, bytes: number, scan: EnvelopeScan.EnvelopeScan) => {
    const envelope = scan.end()
    out.push({
      _tag: "TooLong",
      bytes,
      maxBytes: limit,
      ...(setting === undefined ? {} : { setting }),
      ...(envelope === undefined ? {} : { envelope }),
    })
  }

  const hold = (part: Buffer) => {
    if (part.length === 0) return
    heldBytes += part.length
    if (discarding !== undefined) return discarding.push(part)
    if (heldBytes > limit) {
      discarding = EnvelopeScan.make()
      for (const held of parts) discarding.push(held)
      discarding.push(part)
      parts = []
      return
    }
    let last = part
    let before = parts.at(-1)
    // Like a binary counter: a byte is copied at most log2(mergeBelowBytes) times.
    while (
      before !== undefined &&
      before.length <= last.length &&
      before.length + last.length <= mergeBelowBytes
    ) {
      last = Buffer.concat([before, last])
      parts.pop()
      before = parts.at(-1)
    }
    parts.push(last)
  }

  const pushLine = (out: Array<Frame>, line: Buffer) => {
    if (line.length > limit) {
      pushTooLong(out, line.length, scanned(line))
    } else if (NodeBuffer.isUtf8(line)) {
      pushText(out, line.toString("utf8"))
    } else {
      out.push({ _tag: "NotUtf8", bytes: line.length })
    }
  }

  const finishHeld = (out: Array<Frame>) => {
    const held = parts
    const bytes = heldBytes
    const scan = discarding
    // Released before the line is decoded: a long one is in memory once less.
    parts = []
    heldBytes = 0
    discarding = undefined
    if (scan !== undefined) return pushTooLong(out, bytes, scan)
    const [first] = held
    const line = held.length === 1 && first !== undefined ? first : Buffer.concat(held)
    held.length = 0
    pushLine(out, line)
  }

  // Whole lines without their last LF. No UTF-8 sequence holds an LF, so all of them are valid when the block is.
  const pushBlock = (out: Array<Frame>, block: Buffer) => {
    if (block.length <= limit && NodeBuffer.isUtf8(block)) {
      for (const line of block.toString("utf8").split("\n")) pushText(out, line)
      return
    }
    let start = 0
    let next: number
    while ((next = block.indexOf(lineFeed, start)) !== -1) {
      pushLine(out, block.subarray(start, next))
      start = next + 1
    }
    pushLine(out, block.subarray(start))
  }

  return {
    push: (bytes) => {
      const chunk = Buffer.isBuffer(bytes)
        ? bytes
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const out: Array<Frame> = []
      const last = chunk.lastIndexOf(lineFeed)
      if (last === -1) {
        hold(chunk)
        return out
      }
      let start = 0
      if (heldBytes > 0) {
        const first = chunk.indexOf(lineFeed)
        hold(chunk.subarray(0, first))
        finishHeld(out)
        start = first + 1
      }
      if (start <= last) pushBlock(out, chunk.subarray(start, last))
      hold(chunk.subarray(last + 1))
      return out
    },
    end: () => {
      const out: Array<Frame> = []
      if (heldBytes > 0) finishHeld(out)
      return out
    },
  }
}
