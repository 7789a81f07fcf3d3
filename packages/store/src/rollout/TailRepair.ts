/**
 * Repairs the end of a file after a crash: a line that was being written, part of it, part of a
 * character, or zeros that the disk never replaced. Keeps L11: after `repairTail` the file ends
 * with a newline and contains only whole lines.
 */
import type { Repair } from "@colloquy/core/ConversationStore"
import * as Effect from "effect/Effect"
import type { FileFault, FileHandle } from "../Files.ts"
import { decodeText, maxLineBytes } from "./LineReader.ts"

const newline = 0x0a

const blockBytes = 64 * 1024

/**
 * Number of bytes of a tail that are a whole line except for the newline; undefined when it is not
 * a whole line.
 */
const wholeBytes = (tail: Uint8Array): number | undefined => {
  let length = tail.length
  while (length > 0 && tail[length - 1] === 0) length--
  const text = decodeText(tail.subarray(0, length))
  if (text === undefined || !text.startsWith("{")) return undefined
  try {
    JSON.parse(text)
    return length
  } catch {
    return undefined
  }
}

/** Offset behind the last newline; 0 for a file without one. */
const endOfLines = Effect.fnUntraced(function* (
  handle: FileHandle,
  bytes: number,
): Effect.fn.Return<number, FileFault> {
  for (let at = bytes; at > 0;) {
    const from = Math.max(0, at - blockBytes)
    const block = yield* handle.read(from, at - from)
    const stop = block.lastIndexOf(newline)
    if (stop !== -1) return from + stop + 1
    at = from
  }
  return 0
})

/** Repairs the end of a file and syncs it. An intact file is not changed. */
export const repairTail = Effect.fnUntraced(function* (
  handle: FileHandle,
  bytes: number,
): Effect.fn.Return<{ readonly bytes: number; readonly repair?: Repair }, FileFault> {
  const end = yield* endOfLines(handle, bytes)
  const torn = bytes - end
  if (torn === 0) return { bytes }
  const whole = torn > maxLineBytes ? undefined : wholeBytes(yield* handle.read(end, torn))
  if (whole === undefined) {
    yield* handle.truncate(end)
    yield* handle.sync
    const message = `its last ${torn} bytes, from offset ${end}, were half a line and were cut off`
    return { bytes: end, repair: { kind: "torn_tail_cut", message } }
  }
  yield* handle.truncate(end + whole)
  if ((yield* handle.write(end + whole, Uint8Array.of(newline))) !== 1) {
    // No room for the newline: the line is cut like one that is not whole.
    yield* handle.truncate(end)
    yield* handle.sync
    const message = `its last line, from offset ${end}, could not be completed and was cut off`
    return { bytes: end, repair: { kind: "torn_tail_cut", message } }
  }
  yield* handle.sync
  const message = `its last line, from offset ${end}, lacked its end and was completed`
  return { bytes: end + whole + 1, repair: { kind: "torn_tail_completed", message } }
})
