/**
 * Reads pages of records from a rollout file, forward and backward, from any position, in memory
 * that the size of a page bounds. Reads only whole lines: a last line that is being written, or
 * that a crash cut off, is ignored.
 *
 * A position between two records is one number: the offset of a line, multiplied by
 * `positionsPerByte`, plus the number of the line's records before the position.
 */
import type { Position, RecordPage } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import * as Effect from "effect/Effect"
import { numberedLineAfter, numberedLineBefore } from "./NumberedLine.ts"
import { LineDecoder, maxLostEvents } from "./LineDecoder.ts"
import type { FileFault, FileHandle } from "../Files.ts"
import type { RolloutHeader } from "./RolloutHeader.ts"
import { LineReader, type RawLine } from "./LineReader.ts"
import type { Waypoint, Waypoints } from "./Waypoints.ts"

/**
 * More than the number of records that any line can have, including those that replace lost events.
 */
const positionsPerByte = 2 * maxLostEvents

/** A page ends early when the lines of its records have this many bytes. */
const pageBytes = 8 * 1024 * 1024

/** Distance of the waypoints that a scan adds. */
const waypointBytes = 1024 * 1024

/** A range smaller than this is read from its beginning instead of being searched by bisection. */
const nearBytes = 128 * 1024

interface PlacedRecord {
  readonly record: LogRecord
  /** The position directly before the record. */
  readonly position: Position
  /** The place before the record's line. */
  readonly line: Waypoint
  /** The record's share of its line. */
  readonly bytes: number
}

/** A line and what it means. */
export interface DecodedRawLine extends RawLine {
  /** The records of the line; empty when it has none. */
  readonly records: ReadonlyArray<LogRecord>
  /** True when the line cannot be read. */
  readonly bad: boolean
  /** The place before the line. */
  readonly before: Waypoint
  /** Generation of the last writer that is named up to here. */
  readonly generation: number
}

/** Reads records of one open file. */
export class LogReader {
  private readonly handle: FileHandle
  private readonly header: RolloutHeader
  private readonly waypoints: Waypoints

  constructor(handle: FileHandle, header: RolloutHeader, waypoints: Waypoints) {
    this.handle = handle
    this.header = header
    this.waypoints = waypoints
  }

  /**
   * Decodes every line from a waypoint to `end`, until `visit` returns true. Returns the place
   * behind the last line decoded.
   */
  readonly scan = Effect.fnUntraced(function* (
    this: LogReader,
    from: Waypoint,
    end: number,
    visit: (line: DecodedRawLine) => boolean,
  ): Effect.fn.Return<Waypoint, FileFault> {
    const { header } = this
    const decoder = new LineDecoder(header.lineFormat, from.numbering, from.atMs, from.keepsInput)
    const reader = new LineReader(this.handle, from.offset, end)
    let marked = from.offset
    for (;;) {
      const lines = yield* reader.next
      if (lines === undefined) return decoder.placeAt(reader.offset)
      for (const line of lines) {
        const before = decoder.placeAt(line.offset)
        if (line.offset - marked > waypointBytes) {
          this.waypoints.add(before)
          marked = line.offset
        }
        const { records, bad } =
          line.offset === 0
            ? { records: header.records, bad: undefined }
            : line.text === undefined
              ? { records: [], bad: true }
              : decoder.decode(line.text, line.end)
        const { end: lineEnd, offset, text } = line
        const generation = decoder.lastGeneration
        if (visit({ offset, end: lineEnd, text, records, bad: bad === true, before, generation })) {
          return decoder.placeAt(line.end)
        }
      }
      yield* Effect.yieldNow
    }
  })

  /** The beginning of the file. */
  get start(): Waypoint {
    const { meta, numbering } = this.header
    return { offset: 0, numbering, atMs: meta.createdAtMs, keepsInput: false }
  }

  /**
   * A waypoint at or before the end of the line at an offset, as near as can be found without
   * reading much.
   */
  readonly waypointNear = Effect.fnUntraced(function* (
    this: LogReader,
    anywhere: number,
  ): Effect.fn.Return<Waypoint, FileFault> {
    const known = this.waypoints.before(anywhere) ?? this.start
    if (known.offset === anywhere) return known
    const offset = yield* this.lineStart(anywhere)
    const anchor = yield* numberedLineBefore(
      this.handle,
      this.header.lineFormat,
      offset,
      known.offset,
    )
    return anchor ?? known
  })

  /** At most `max` records from a position on. Reads no farther than the offset `end`. */
  readonly readForward = Effect.fnUntraced(function* (
    this: LogReader,
    from: Position,
    max: number,
    end: number,
  ): Effect.fn.Return<RecordPage, FileFault> {
    const records: Array<LogRecord> = []
    let bytes = 0
    let next: PlacedRecord | undefined
    const start = yield* this.waypointNear(Math.floor(from / positionsPerByte))
    yield* this.scan(start, end, (line) => {
      const placed = line.records
      for (let i = 0; i < placed.length; i++) {
        const record = placed[i]
        if (record === undefined || positionIn(line, i) < from) continue
        if (records.length >= max || bytes >= pageBytes) {
          next = placedRecord(line, record, i)
          return true
        }
        records.push(record)
        bytes += bytesOfEach(line)
      }
      return false
    })
    if (next === undefined) return { records }
    this.waypoints.add(next.line)
    return { records, next: next.position }
  })

  /**
   * At most `max` records before a position, in the order of the log. Reads no farther than the
   * offset `end`.
   */
  readonly readBackward = Effect.fnUntraced(function* (
    this: LogReader,
    before: Position,
    max: number,
    end: number,
  ): Effect.fn.Return<RecordPage, FileFault> {
    const stop = Math.min(Math.floor(before / positionsPerByte), end)
    for (let window = Math.max(nearBytes, max * 512); ; window *= 4) {
      const start = yield* this.waypointNear(Math.max(0, stop - window))
      const last = new LastRecords(max)
      yield* this.scan(start, end, (line) => {
        for (const placed of placedRecords(line)) {
          if (placed.position >= before) return true
          last.add(placed)
        }
        return line.end > stop
      })
      if (start.offset === 0 || last.isFull) return last.page()
    }
  })

  /**
   * The position directly before the record of an event; undefined when there is none. Finds it by
   * bisection.
   */
  readonly positionOf = Effect.fnUntraced(function* (
    this: LogReader,
    seq: number,
    end: number,
  ): Effect.fn.Return<Position | undefined, FileFault> {
    let from: Waypoint = this.start
    let to = end
    while (to - from.offset > nearBytes) {
      const middle = Math.floor((from.offset + to) / 2)
      const anchor = yield* numberedLineAfter(this.handle, this.header.lineFormat, middle, to)
      if (anchor !== undefined && anchor.seq < seq) from = anchor
      else to = middle
    }
    let found: Position | undefined
    yield* this.scan(from, end, (line) => {
      for (const { position, record } of placedRecords(line)) {
        if (record._tag !== "Event" || record.event.seq < seq) continue
        if (record.event.seq === seq) found = position
        return true
      }
      return false
    })
    return found
  })

  /** Offset of the first line that starts at or behind an offset. */
  private readonly lineStart = Effect.fnUntraced(function* (
    this: LogReader,
    offset: number,
  ): Effect.fn.Return<number, FileFault> {
    if (offset === 0) return 0
    let at = offset - 1
    for (;;) {
      const bytes = yield* this.handle.read(at, nearBytes)
      if (bytes.length === 0) return at
      const stop = bytes.indexOf(0x0a)
      if (stop !== -1) return at + stop + 1
      at += bytes.length
    }
  })
}

/** The position directly before a record of a line. */
const positionIn = ({ offset }: DecodedRawLine, i: number): Position =>
  offset * positionsPerByte + i

/** The share of each record of a line in the line's bytes. */
const bytesOfEach = ({ end, offset, records }: DecodedRawLine): number =>
  (end - offset) / records.length

const placedRecord = (line: DecodedRawLine, record: LogRecord, i: number): PlacedRecord => ({
  record,
  position: positionIn(line, i),
  line: line.before,
  bytes: bytesOfEach(line),
})

const placedRecords = (line: DecodedRawLine): ReadonlyArray<PlacedRecord> =>
  line.records.map((record, i) => placedRecord(line, record, i))

/** Keeps the last records of a scan, at most `max`, and whether there were more. */
class LastRecords {
  private readonly max: number
  private kept: Array<PlacedRecord> = []
  private bytes = 0
  private dropped = false

  constructor(max: number) {
    this.max = max
  }

  get isFull(): boolean {
    return this.dropped
  }

  add(placed: PlacedRecord): void {
    this.kept.push(placed)
    this.bytes += placed.bytes
    // Removing from the front of an array costs its length, so many are removed at once.
    if (this.kept.length > 2 * this.max + 64 || this.bytes > 2 * pageBytes) this.trim()
  }

  page(): RecordPage {
    this.trim()
    const [first] = this.kept
    return {
      records: this.kept.map(({ record }) => record),
      ...(this.dropped && first !== undefined ? { next: first.position } : {}),
    }
  }

  private trim(): void {
    let from = 0
    let { bytes } = this
    while (
      this.kept.length - from > this.max ||
      (bytes > pageBytes && this.kept.length - from > 1)
    ) {
      bytes -= this.kept[from]?.bytes ?? 0
      from++
    }
    if (from === 0) return
    this.kept = this.kept.slice(from)
    this.bytes = bytes
    this.dropped = true
  }
}
