/**
 * Finding one's way in a long file without reading it: the nearest line that has a number, before or behind a place. A line
 * that cannot be read as a whole is no anchor, so that whoever comes from the beginning counts alike.
 */
import * as Effect from "effect/Effect"
import { LineDecoder, type LineDecoderState, type LineFormat } from "./LineDecoder.ts"
import type { FileFault, FileHandle } from "../Files.ts"
import { decodeText, LineReader, maxLineBytes, type RawLine } from "./LineReader.ts"

/** A place between two lines, and what a decoder knows there. */
export interface Waypoint extends LineDecoderState {
  readonly offset: number
}

/** One with a number, and the place behind it. */
export interface NumberedLine extends Waypoint {
  /** The number the line has. */
  readonly seq: number
}

const form =
  /^\{"timestamp":"[^"]{24}","type":"colloquy_(?:event|mark)","payload":\{"seq":(\d{1,15}),"id":/

/** Whether the line at hand is one. */
const numberedLineOf = (
  generation: LineFormat,
  { end, text }: RawLine,
): NumberedLine | undefined => {
  const seq = text === undefined ? undefined : form.exec(text)?.[1]
  if (text === undefined || seq === undefined) return undefined
  const decoder = new LineDecoder(generation, { seq: Number(seq), id: "" }, Number.NaN)
  // One whose time cannot be read has that of a line farther up.
  return decoder.decode(text, end).bad === true || Number.isNaN(decoder.lastMs)
    ? undefined
    : { offset: end, ...decoder.state, seq: Number(seq) }
}

/** The first at or behind `from`, which may be in the middle of a line, and before `end`. */
export const numberedLineAfter = Effect.fnUntraced(function* (
  handle: FileHandle,
  generation: LineFormat,
  from: number,
  end: number,
): Effect.fn.Return<NumberedLine | undefined, FileFault> {
  // One byte before: where a newline stands there, the first line is a whole one.
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

/** Farther back than this nobody looks for one. */
const maxBack = 4 * 1024 * 1024

/** The last one that ends at or before `before`, the beginning of a line; undefined when there is none near. */
export const numberedLineBefore = Effect.fnUntraced(function* (
  handle: FileHandle,
  generation: LineFormat,
  before: number,
  floor: number,
): Effect.fn.Return<NumberedLine | undefined, FileFault> {
  const lowest = Math.max(floor, before - maxBack)
  /** The beginning of the earliest line seen. */
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
    // Ends of lines: what stands behind one is a whole line up to `top`.
    for (;;) {
      // The last byte before `top` ends the line itself.
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
