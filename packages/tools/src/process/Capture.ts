/**
 * Keeps the head and the tail of a byte stream of unknown length, in bounded memory. Counts the bytes that it drops,
 * decodes once at the end, and never cuts a character in two. Never waits and never fails.
 */
import type { Captured } from "./Command.ts"

/** Default bytes kept of each stream. The original keeps about as much. */
export const defaultMaxBytes = 1024 * 1024

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80

/** Number of bytes of the character that starts with this byte; 1 for a byte that starts no character. */
const lengthOfCharacter = (lead: number): number => {
  if (lead >= 0xf0 && lead < 0xf8) return 4
  if (lead >= 0xe0 && lead < 0xf0) return 3
  return lead >= 0xc0 && lead < 0xe0 ? 2 : 1
}

/** Largest position at or below `end` such that the bytes before it end with a whole character. */
export const cutBefore = (bytes: Uint8Array, end: number): number => {
  for (let lead = end - 1; lead >= 0 && lead >= end - 3; lead--) {
    const byte = bytes[lead]
    if (isContinuation(byte)) continue
    return byte !== undefined && lead + lengthOfCharacter(byte) > end ? lead : end
  }
  return end
}

/** Smallest position at or above `start` such that the bytes from it on begin with a whole character. */
export const cutAfter = (bytes: Uint8Array, start: number): number => {
  for (let at = start; at < start + 4; at++) if (!isContinuation(bytes[at])) return at
  return start
}

/**
 * A buffer that grows up to `maxBytes`: the first half holds the head and never changes, the second half is a ring with
 * the tail. As long as all bytes fit, the ring simply continues the head.
 */
export class Capture {
  private buffer = new Uint8Array(0)
  private total = 0
  private readonly headBytes: number
  private readonly ringBytes: number

  /** @param maxBytes bytes kept at most, 2 or more */
  constructor(maxBytes: number) {
    this.headBytes = Math.max(1, Math.floor(maxBytes / 2))
    this.ringBytes = Math.max(1, Math.ceil(maxBytes) - this.headBytes)
  }

  /** Adds the next bytes of the stream. */
  push(bytes: Uint8Array): void {
    this.grow(Math.min(this.total + bytes.length, this.headBytes + this.ringBytes))
    const toHead = bytes.subarray(0, Math.max(0, this.headBytes - this.total))
    this.buffer.set(toHead, this.total < this.headBytes ? this.total : 0)
    this.total += toHead.length
    const rest = bytes.subarray(toHead.length)
    if (rest.length > 0) this.pushTail(rest)
  }

  /** Returns what was kept, with a marker in place of dropped bytes. More bytes may be pushed afterwards. */
  finish(): Captured {
    const limit = this.headBytes + this.ringBytes
    if (this.total <= limit) {
      const text = decoder.decode(this.buffer.subarray(0, this.total))
      return { text, totalBytes: this.total, omittedBytes: 0 }
    }
    const head = this.buffer.subarray(0, cutBefore(this.buffer, this.headBytes))
    const ring = this.tail()
    const tail = ring.subarray(cutAfter(ring, 0))
    const omittedBytes = this.total - head.length - tail.length
    const marker = `\n[... omitted ${omittedBytes} of ${this.total} bytes ...]\n`
    return {
      text: decoder.decode(head) + marker + decoder.decode(tail),
      totalBytes: this.total,
      omittedBytes,
    }
  }

  private pushTail(bytes: Uint8Array): void {
    const skipped = Math.max(0, bytes.length - this.ringBytes)
    const kept = bytes.subarray(skipped)
    const at = (this.total + skipped - this.headBytes) % this.ringBytes
    const first = kept.subarray(0, this.ringBytes - at)
    this.buffer.set(first, this.headBytes + at)
    if (first.length < kept.length) this.buffer.set(kept.subarray(first.length), this.headBytes)
    this.total += bytes.length
  }

  /** Content of the ring in the order in which the bytes arrived. */
  private tail(): Uint8Array {
    const at = (this.total - this.headBytes) % this.ringBytes
    const ring = this.buffer.subarray(this.headBytes)
    const ordered = new Uint8Array(this.ringBytes)
    ordered.set(ring.subarray(at))
    ordered.set(ring.subarray(0, at), this.ringBytes - at)
    return ordered
  }

  private grow(needed: number): void {
    if (needed <= this.buffer.length) return
    const limit = this.headBytes + this.ringBytes
    const grown = new Uint8Array(Math.min(limit, Math.max(needed, this.buffer.length * 2)))
    grown.set(this.buffer)
    this.buffer = grown
  }
}
