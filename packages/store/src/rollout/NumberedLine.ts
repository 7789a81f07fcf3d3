/**
 * Finds a place in a long file without reading it from the beginning: the nearest line, before or
 * behind an offset, that contains the number of its event. A line that cannot be fully decoded does
 * not count, so that a reader that starts here numbers the following events like one that starts at
 * the beginning.
 */
import * as Effect from "effect/Effect"
import { LineDecoder, type LineFormat } from "./LineDecoder.ts"
import type { FileFault, FileHandle } from "../Files.ts"
import { decodeText, LineReader, maxLineBytes, type RawLine } from "./LineReader.ts"
import type { Waypoint } from "./Waypoints.ts"

/** A line with a number, and the place behind it. */
export interface NumberedLine extends Waypoint {
  /** The number in the line. */
  readonly seq: number
}

const form =
  /^\{"timestamp":"[^"]{24}","type":"colloquy_(?:event|mark)","payload":\{"seq":(\d{1,15}),"id":/

/** Decodes a line if it contains a number. */
const numberedLineOf = (
  generation: LineFormat,
  { end, text }: RawLine,
): NumberedLine | undefined => {
  const seq = text === undefined ? undefined : form.exec(text)?.[1]
  if (text === undefined || seq === undefined) return undefined
  const decoder = new LineDecoder(generation, { seq: Number(seq), id: "" }, Number.NaN)
  // A line without a readable time takes the time of an earlier line, which is not known here.
  return decoder.decode(text, end).bad === true || Number.isNaN(decoder.lastMs)
    ? undefined
    : { offset: end, ...decoder.state, seq: Number(seq) }
}

/**
 * The first numbered line that starts at or behind `from`, which may be in the middle of a line,
 * and ends at or before `end`.
 */
export const numberedLineAfter = Effect.fnUntraced(function* (
  handle: FileHandle,
  generation: LineFormat,
  from: number,
  end: number,
): Effect.fn.Return<NumberedLine | undefined, FileFault> {
  // Starts one byte earlier: if that byte is a newline, the line at `from` is a whole one.
  const reader = new LineReader(handle, Math.max(0, from - 1), end)
  let isFirst = from > 0
  for (;;) {
    const lines = yield* reader.next
    if (lines === undefined) return undefined
    for (const line of lines) {
      const anchor = isFirst ? undefined : numberedLineOf(generation, line)
      isFirst = false
      if (anchor !== undefined) return anchor
    }
  }
})

const blockBytes = 64 * 1024

/** The search backward gives up after this many bytes. */
const maxBack = 4 * 1024 * 1024

/**
 * The last numbered line that ends at or before `before`, which is the beginning of a line;
 * undefined when there is none near.
 */
export const numberedLineBefore = Effect.fnUntraced(function* (
  handle: FileHandle,
  generation: LineFormat,
  before: number,
  floor: number,
): Effect.fn.Return<NumberedLine | undefined, FileFault> {
  const lowest = Math.max(floor, before - maxBack)
  /** Offset of the earliest line examined so far. */
  let top = before
  let rest: Uint8Array = new Uint8Array(0)
  let at = before
  while (at > lowest) {
    const from = Math.max(lowest, at - blockBytes)
    const bytes = yield* handle.read(from, at - from)
    const block = new Uint8Array(bytes.length + rest.length)
    block.set(bytes)
    block.set(rest, bytes.length)
    at = from
    // Each newline in the block is the end of a line; the bytes from there to `top` are a whole
    // line.
    for (;;) {
      // The byte directly before `top` is the newline of the line itself.
      const stop = block.lastIndexOf(0x0a, top - from - 2)
      const isWhole = (stop !== -1 || from === floor) && top > from
      if (!isWhole || top - from < 2) break
      const start = from + stop + 1
      const text = decodeText(block.subarray(stop + 1, top - from - 1))
      const anchor = numberedLineOf(generation, { offset: start, end: top, text })
      if (anchor !== undefined) return anchor
      top = start
      if (stop === -1) break
    }
    rest = block.subarray(0, top - from)
    if (rest.length > maxLineBytes) return undefined
  }
  return undefined
})
