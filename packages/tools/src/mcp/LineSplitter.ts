/**
 * Splits the bytes of a tool server into lines. Keeps one unfinished line of at most `maxBytes`; a longer one is
 * discarded as it arrives, except for what says which request it responds to (L13). Pure, and it never throws.
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

/** Returns the function to be called with each chunk. */
export const make = (maxBytes: number): ((chunk: Uint8Array) => Cut) => {
  const decoder = new TextDecoder()
  const held = new Held()
  let discarding: { readonly scan: EnvelopeScan.EnvelopeScan; bytes: number } | undefined

  /** Returns the number of bytes discarded. */
  const add = (part: Uint8Array): number => {
    if (discarding === undefined && held.length + part.length <= maxBytes) {
      held.add(part)
      return 0
    }
    const before = discarding === undefined ? held.length : 0
    if (discarding === undefined) {
      discarding = { scan: EnvelopeScan.make(), bytes: before }
      discarding.scan.push(held.bytes())
      held.clear()
    }
    discarding.scan.push(part)
    discarding.bytes += part.length
    return before + part.length
  }

  const finish = (): Line => {
    if (discarding === undefined) {
      const bytes = held.length
      const text = decoder.decode(held.bytes())
      held.clear()
      return { _tag: "Text", text, bytes }
    }
    const { bytes, scan } = discarding
    discarding = undefined
    const envelope = scan.end()
    return { _tag: "TooLong", bytes, maxBytes, ...(envelope === undefined ? {} : { envelope }) }
  }

  return (chunk) => {
    const lines: Array<Line> = []
    let discardedBytes = 0
    let start = 0
    for (let end; (end = chunk.indexOf(lineFeed, start)) !== -1; start = end + 1) {
      discardedBytes += add(chunk.subarray(start, end))
      lines.push(finish())
    }
    discardedBytes += add(chunk.subarray(start))
    return { lines, discardedBytes }
  }
}
