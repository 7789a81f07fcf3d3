/**
 * Reads a row of the index from the two ends of a rollout file: the metadata and the first user
 * message from the beginning, the time of the last record from the end. Reads only a small part of
 * a long file.
 */
import { previewOf } from "@colloquy/core/store/Preview"
import * as Effect from "effect/Effect"
import { LineDecoder } from "./LineDecoder.ts"
import type { FileFault, FileHandle, FileStat } from "../Files.ts"
import { type RolloutHeader, headerLineCount, parseHeader } from "./RolloutHeader.ts"
import { decodeText, LineReader, type RawLine } from "./LineReader.ts"
import { msOf } from "../internal/IsoTime.ts"
import type { IndexRow } from "../RolloutIndex.ts"

/** How far behind the header lines the first user message is looked for. */
const headBytes = 1024 * 1024

/** Limit of the first lines, which contain the instructions of any length. */
const headerBytes = 64 * 1024 * 1024

/** Most headers fit. */
const firstReadBytes = 16 * 1024

const tailBytes = 16 * 1024

/**
 * Reads the header and the lines that were read for it; undefined when the file is not a rollout.
 */
export const readHeader = Effect.fnUntraced(function* (
  handle: FileHandle,
): Effect.fn.Return<
  { readonly header: RolloutHeader; readonly lines: ReadonlyArray<RawLine> } | undefined,
  FileFault
> {
  const reader = new LineReader(handle, 0, headerBytes, firstReadBytes)
  const lines: Array<RawLine> = []
  while (lines.length < headerLineCount) {
    const more = yield* reader.next
    if (more === undefined) break
    lines.push(...more)
  }
  const header = parseHeader(lines.slice(0, headerLineCount).map(({ text }) => text ?? ""))
  return header === undefined ? undefined : { header, lines }
})

/** The time in the last whole line. */
const lastMs = Effect.fnUntraced(function* (
  handle: FileHandle,
  bytes: number,
): Effect.fn.Return<number | undefined, FileFault> {
  const from = Math.max(0, bytes - tailBytes)
  const tail = yield* handle.read(from, bytes - from)
  const stop = tail.lastIndexOf(0x0a)
  const start = stop <= 0 ? -1 : tail.lastIndexOf(0x0a, stop - 1)
  const line = decodeText(tail.subarray(start + 1, Math.max(stop, 0))) ?? ""
  const time = /^\{"timestamp":"([^"]+)"/.exec(line)?.[1]
  return time === undefined ? undefined : msOf(time)
})

const previewIn = (header: RolloutHeader, lines: ReadonlyArray<RawLine>): string | undefined => {
  const decoder = new LineDecoder(header.lineFormat, header.numbering, header.meta.createdAtMs)
  for (const { end, offset, text } of lines) {
    if (offset === 0 || text === undefined) continue
    for (const record of decoder.decode(text, end).records) {
      const preview = record._tag === "Event" ? previewOf(record.event.msg) : undefined
      if (preview !== undefined) return preview
    }
  }
  return undefined
}

/**
 * Reads the row of a file; undefined when the file is not a rollout.
 *
 * @param place path relative to the state directory
 */
export const readIndexRow = Effect.fnUntraced(function* (
  handle: FileHandle,
  stat: FileStat,
  place: { readonly path: string; readonly archived: boolean },
): Effect.fn.Return<IndexRow | undefined, FileFault> {
  const head = yield* readHeader(handle)
  if (head === undefined) return undefined
  const { header, lines } = head
  const { instructions: _instructions, ...meta } = header.meta
  let preview = previewIn(header, lines)
  if (preview === undefined) {
    // Not among the first lines: look a limited distance farther.
    const from = lines.at(-1)?.end ?? 0
    const reader = new LineReader(handle, from, from + headBytes)
    for (;;) {
      const more = preview === undefined ? yield* reader.next : undefined
      if (more === undefined) break
      preview = previewIn(header, more)
    }
  }
  return {
    meta,
    ...place,
    updatedAtMs: (yield* lastMs(handle, stat.bytes)) ?? stat.modifiedMs,
    ...(preview === undefined ? {} : { preview }),
    version: { bytes: stat.bytes, modifiedMs: stat.modifiedMs, identity: stat.identity },
  }
})
