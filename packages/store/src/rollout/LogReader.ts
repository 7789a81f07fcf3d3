/**
 * Reads a rollout by pages: forward and backward, from any place, in memory that the page bounds. Reads whole lines alone:
 * a tail that is being written, or that a crash tore, is not there yet.
 *
 * A place between two records is a number: the offset of a line and how many of the line's records stand before it.
 */
import type { Position, RecordPage } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import * as Effect from "effect/Effect"
import { numberedLineAfter, numberedLineBefore, type Waypoint } from "./NumberedLine.ts"
import { LineDecoder, maxLostEvents } from "./LineDecoder.ts"
import type { FileFault, FileHandle } from "../Files.ts"
import type { RolloutHeader } from "./RolloutHeader.ts"
import { LineReader, type RawLine } from "./LineReader.ts"

/** More than any line has records, those that take the place of lost ones included. */
const positionsPerByte = 2 * maxLostEvents

/** What a page holds before it ends early, in bytes of the file. */
const pageBytes = 8 * 1024 * 1024

/** Waypoints kept per file. */
const maxWaypoints = 256

/** Of a stretch in which nobody finds a number. */
const waypointBytes = 1024 * 1024

/** Below it a search by halves gives way to reading. */
const nearBytes = 128 * 1024

/** What is remembered of a file between pages; places stay right as it grows. */
export class Waypoints {
  private readonly known: Array<Waypoint> = []

  /** The last at or before the offset. */
  before(offset: number): Waypoint | undefined {
    return this.known.findLast((waypoint) => waypoint.offset <= offset)
  }

  add(waypoint: Waypoint): void {
    const at = this.known.findLastIndex(({ offset }) => offset <= waypoint.offset)
    if (this.known[at]?.offset === waypoint.offset) return
    this.known.splice(at + 1, 0, waypoint)
    // Every other one is as good a table.
    if (this.known.length > maxWaypoints) {
      const kept = this.known.filter((_, i) => i % 2 === 0)
      this.known.splice(0, this.known.length, ...kept)
    }
  }
}

interface PlacedRecord {
  readonly record: LogRecord
  readonly position: Position
  /** The place before its line. */
  readonly line: Waypoint
  readonly bytes: number
}

/** What one line says. */
export interface DecodedRawLine extends RawLine {
  readonly records: ReadonlyArray<LogRecord>
  readonly bad: boolean
  readonly before: Waypoint
  /** Of the last writer that said who it is, up to here. */
  readonly generation: number
}

export class LogReader {
  private readonly handle: FileHandle
  private readonly header: RolloutHeader
  private readonly waypoints: Waypoints

  constructor(handle: FileHandle, header: RolloutHeader, waypoints: Waypoints) {
    this.handle = handle
    this.header = header
    this.waypoints = waypoints
  }

  /** Every line from a waypoint to `end`, until `visit` says that it is enough. Gives the place behind the last one. */
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
      if (lines === undefined) return { offset: reader.offset, ...decoder.state }
      for (const line of lines) {
        const before = { offset: line.offset, ...decoder.state }
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
        const generation = decoder.lastGeneration
        if (visit({ ...line, records, bad: bad === true, before, generation })) {
          return { offset: line.end, ...decoder.state }
        }
      }
      yield* Effect.yieldNow
    }
  })

  /** Where the file begins. */
  get start(): Waypoint {
    const { meta, numbering } = this.header
    return { offset: 0, numbering, atMs: meta.createdAtMs, keepsInput: false }
  }

  /** A place at or before the offset or the end of the line there, as near as can be told without much reading. */
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

  readonly readForward = Effect.fnUntraced(function* (
    this: LogReader,
    from: Position,
    max: number,
    end: number,
  ): Effect.fn.Return<RecordPage, FileFault> {
    const records: Array<LogRecord> = []
    let bytes = 0
    let next: PlacedRecord | undefined
    const begin = yield* this.waypointNear(Math.floor(from / positionsPerByte))
    yield* this.scan(begin, end, (line) => {
      for (const placed of placedRecords(line)) {
        if (placed.position < from) continue
        if (records.length >= max || bytes >= pageBytes) {
          next = placed
          return true
        }
        records.push(placed.record)
        bytes += placed.bytes
      }
      return false
    })
    if (next === undefined) return { records }
    this.waypoints.add(next.line)
    return { records, next: next.position }
  })

  readonly readBackward = Effect.fnUntraced(function* (
    this: LogReader,
    before: Position,
    max: number,
    end: number,
  ): Effect.fn.Return<RecordPage, FileFault> {
    const stop = Math.min(Math.floor(before / positionsPerByte), end)
    for (let window = Math.max(nearBytes, max * 512); ; window *= 4) {
      const begin = yield* this.waypointNear(Math.max(0, stop - window))
      const last = new LastRecords(max)
      yield* this.scan(begin, end, (line) => {
        for (const placed of placedRecords(line)) {
          if (placed.position >= before) return true
          last.add(placed)
        }
        return line.end > stop
      })
      if (begin.offset === 0 || last.isFull) return last.page()
    }
  })

  /** The place right before the record of an event. */
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

  /** The beginning of the first line at or behind an offset. */
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

const placedRecords = (line: DecodedRawLine): ReadonlyArray<PlacedRecord> =>
  line.records.map((record, i) => ({
    record,
    position: line.offset * positionsPerByte + i,
    line: line.before,
    bytes: (line.end - line.offset) / line.records.length,
  }))

/** The last records of a stretch, at most so many, and whether there were more. */
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
    // One that is shifted off an array costs its length: many at once then.
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
