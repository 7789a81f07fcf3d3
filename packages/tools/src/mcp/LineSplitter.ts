/**
 * Splits the bytes of a tool server into lines. Keeps one unfinished line of at most `maxBytes`; a longer one is
 * discarded as it arrives, except for the id of the request that it responds to (L13). It never throws.
 *
 *     kept --the line exceeds maxBytes--> discarding --line feed--> kept (empty)
 */
import type { Frame } from "@colloquy/protocol/Connection"
import * as EnvelopeScan from "@colloquy/protocol/EnvelopeScan"

/** A complete line, or the description of a discarded one. */
export type Line =
  | Extract<Frame, { readonly _tag: "TooLong" }>
  | { readonly _tag: "Text"; readonly text: string; readonly bytes: number }

/** The result of one chunk. */
export interface Cut {
  /** The lines that the chunk completes. Bytes that are not UTF-8 are replaced. */
  readonly lines: ReadonlyArray<Line>
  /** Bytes of the chunk that were discarded. */
  readonly discardedBytes: number
}

const lineFeed = 0x0a
const minCapacityBytes = 4 * 1024
/** Capacity kept between lines; what a longer line needed is released. */
const maxIdleBytes = 64 * 1024

/** Bytes of the current line, in one buffer that doubles, so that a line sent byte by byte costs no object per byte. */
class Held {
  private buffer = new Uint8Array(minCapacityBytes)
  length = 0
  add(part: Uint8Array): void {
    const needed = this.length + part.length
    if (needed > this.buffer.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.buffer.length))
      larger.set(this.buffer.subarray(0, this.length))
      this.buffer = larger
    }
    this.buffer.set(part, this.length)
    this.length = needed
  }
  bytes(): Uint8Array {
    return this.buffer.subarray(0, this.length)
  }
  clear(): void {
    this.length = 0
    if (this.buffer.length > maxIdleBytes) this.buffer = new Uint8Array(minCapacityBytes)
  }
}

class LineSplitter {
  private readonly maxBytes: number
  private readonly decoder = new TextDecoder()
  private readonly held = new Held()
  /** The current line, once it is too long to be kept. */
  private discarding: { readonly scan: EnvelopeScan.EnvelopeScan; bytes: number } | undefined

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  split(chunk: Uint8Array): Cut {
    const lines: Array<Line> = []
    let discardedBytes = 0
    let start = 0
    for (let end; (end = chunk.indexOf(lineFeed, start)) !== -1; start = end + 1) {
      discardedBytes += this.add(chunk.subarray(start, end))
      lines.push(this.finish())
    }
    discardedBytes += this.add(chunk.subarray(start))
    return { lines, discardedBytes }
  }

  /** Adds to the current line. Returns the number of bytes discarded. */
  private add(part: Uint8Array): number {
    const { held } = this
    if (this.discarding === undefined && held.length + part.length <= this.maxBytes) {
      held.add(part)
      return 0
    }
    const before = this.discarding === undefined ? held.length : 0
    if (this.discarding === undefined) {
      this.discarding = { scan: EnvelopeScan.make(), bytes: before }
      this.discarding.scan.push(held.bytes())
      held.clear()
    }
    this.discarding.scan.push(part)
    this.discarding.bytes += part.length
    return before + part.length
  }

  /** Ends the current line. */
  private finish(): Line {
    const { discarding, held, maxBytes } = this
    if (discarding === undefined) {
      const bytes = held.length
      const text = this.decoder.decode(held.bytes())
      held.clear()
      return { _tag: "Text", text, bytes }
    }
    this.discarding = undefined
    const { bytes, scan } = discarding
    const envelope = scan.end()
    return { _tag: "TooLong", bytes, maxBytes, ...(envelope === undefined ? {} : { envelope }) }
  }
}

/** Returns the function to be called with each chunk. */
export const make = (maxBytes: number): ((chunk: Uint8Array) => Cut) => {
  const splitter = new LineSplitter(maxBytes)
  return (chunk) => splitter.split(chunk)
}
