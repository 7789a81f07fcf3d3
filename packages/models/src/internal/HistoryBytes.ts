/**
 * The JSON of a history as bytes, to which later requests append. The items of a history are immutable and are passed to
 * every request as the same objects, so an item is encoded once, whatever the length of the history.
 */
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"

/** A shorter history is encoded for each request: that takes less than keeping its bytes costs. */
const minKeptLength = 4 * 1024

const encoder = new TextEncoder()
const comma = 0x2c

/** The encoded items of one history, without brackets. */
class Encoded {
  private items: Array<ResponseItem> = []
  /** Offset behind each item. */
  private ends: Array<number> = []
  private buffer = new Uint8Array(2 * minKeptLength)

  /** The bytes of these items; valid until the next call. */
  of(input: ReadonlyArray<ResponseItem>): Uint8Array {
    this.dropFrom(this.sharedWith(input))
    for (let i = this.items.length; i < input.length; i++) {
      const item = input[i]
      if (item !== undefined) this.append(item)
    }
    return this.buffer.subarray(0, this.length)
  }

  private get length(): number {
    return this.ends.at(-1) ?? 0
  }

  /** Number of items at the start that are the same objects. */
  private sharedWith(input: ReadonlyArray<ResponseItem>): number {
    const most = Math.min(this.items.length, input.length)
    for (let i = 0; i < most; i++) if (this.items[i] !== input[i]) return i
    return most
  }

  private dropFrom(count: number): void {
    this.items.length = count
    this.ends.length = count
  }

  private append(item: ResponseItem): void {
    const text = JSON.stringify(item)
    const start = this.length === 0 ? 0 : this.length + 1
    this.reserve(start + text.length)
    const first = encoder.encodeInto(text, this.buffer.subarray(start))
    let { written } = first
    if (first.read < text.length) {
      // UTF-8 takes at most three bytes for each unit of a JavaScript string.
      this.reserve(start + 3 * text.length)
      written = encoder.encodeInto(text, this.buffer.subarray(start)).written
    }
    if (start > 0) this.buffer[start - 1] = comma
    this.items.push(item)
    this.ends.push(start + written)
  }

  private reserve(bytes: number): void {
    if (bytes <= this.buffer.length) return
    const grown = new Uint8Array(Math.max(bytes, 2 * this.buffer.length))
    grown.set(this.buffer.subarray(0, this.length))
    this.buffer = grown
  }
}

/** The bytes of the histories in use. A history is forgotten with its first item, that is, with its conversation. */
export class HistoryBytes {
  private readonly known = new WeakMap<ResponseItem, Encoded>()

  /** The JSON of these items without its brackets; valid until the next call. */
  of(input: ReadonlyArray<ResponseItem>): Uint8Array {
    const [first] = input
    if (first === undefined) return new Uint8Array(0)
    const known = this.known.get(first)
    if (known !== undefined) return known.of(input)
    const text = JSON.stringify(input).slice(1, -1)
    if (text.length < minKeptLength) return encoder.encode(text)
    const encoded = new Encoded()
    this.known.set(first, encoded)
    return encoded.of(input)
  }
}
