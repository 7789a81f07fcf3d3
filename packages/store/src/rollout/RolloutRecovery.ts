/**
 * Prepares a rollout file for a writer: repairs its end, reports lines that cannot be read, and
 * determines the numbering (L11). A file that is not a rollout, or whose header has another id than
 * its name, is left unchanged.
 */
import type { Repair } from "@colloquy/core/ConversationStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import * as Effect from "effect/Effect"
import type { FileFault, FileHandle } from "../Files.ts"
import type { RolloutHeader } from "./RolloutHeader.ts"
import type { RolloutLocation } from "./RolloutLocator.ts"
import { LogReader } from "./LogReader.ts"
import { Waypoints } from "./Waypoints.ts"
import { readHeader } from "./IndexRowReader.ts"
import { formatVersion } from "./LineEncoder.ts"
import type { CheckedLog, FileVersion, IndexRow } from "../RolloutIndex.ts"
import { repairTail } from "./TailRepair.ts"

/** Lines reported one by one; of a file with more the rest is only counted. */
const maxRepairs = 20

/** A file that is ready for a writer. */
export interface RecoveredRollout {
  readonly header: RolloutHeader
  /** The file's contents after the repair. */
  readonly version: FileVersion
  readonly waypoints: Waypoints
  readonly checked: CheckedLog
  /** What was repaired or left out; empty for an intact file. */
  readonly repairs: ReadonlyArray<Repair>
}

const foreignFile = (
  located: RolloutLocation,
  message: string,
  reason: "Foreign" | "Damaged" = "Foreign",
): StoreError =>
  new StoreError({ operation: "open", reason, message: `${located.path}: ${message}` })

/** A client that gave an id did not choose the file, so it is the file that is at fault. */
const wrongFile = (located: RolloutLocation, message: string): StoreError =>
  foreignFile(located, message, located.by === "id" ? "Damaged" : "Foreign")

/**
 * Reads the header. Fails when the file is not a rollout, has a later format version, or belongs to
 * another conversation.
 */
export const readOwnHeader = Effect.fnUntraced(function* (
  handle: FileHandle,
  located: RolloutLocation,
): Effect.fn.Return<RolloutHeader, FileFault | StoreError> {
  const head = yield* readHeader(handle)
  if (head === undefined) {
    return yield* wrongFile(located, "expected a rollout file, which begins with its session_meta")
  }
  const { formatVersion: written = formatVersion, meta } = head.header
  const { id } = meta
  if (written > formatVersion) {
    const message = `written by a later version of Colloquy in format ${written}; this version reads format ${formatVersion}`
    return yield* foreignFile(located, message)
  }
  return id === located.id
    ? head.header
    : yield* wrongFile(located, `expected the id ${located.id} of its name, found ${id}`)
})

const isUnchanged = (row: IndexRow | undefined, version: FileVersion): row is IndexRow =>
  row !== undefined &&
  row.version.bytes === version.bytes &&
  row.version.modifiedMs === version.modifiedMs &&
  row.version.identity === version.identity

class SkippedLines {
  private readonly reported: Array<Repair> = []
  private count = 0

  /** Counts a line that cannot be read. */
  add(offset: number): void {
    if (++this.count > maxRepairs) return
    const message = `the line at offset ${offset} cannot be read and is left out`
    this.reported.push({ kind: "bad_line_skipped", message })
  }

  /** A report for each of the first lines, and one for the rest. */
  get all(): ReadonlyArray<Repair> {
    const more = this.count - this.reported.length
    if (more === 0) return this.reported
    const message = `${more} more lines cannot be read and are left out`
    return [...this.reported, { kind: "bad_line_skipped", message }]
  }
}

/**
 * How much of the end of a file is checked when the index has no result of an earlier check. Damage
 * by a crash is at the end; lines before it that cannot be read are left out when they are read.
 * The limit bounds the time to open a file of any length to about a second.
 */
const maxScanBytes = 32 * 1024 * 1024

/**
 * Repairs the end of a file and determines its numbering.
 *
 * @param row what the index has of the file; an unchanged file that was checked or written before
 * is not read again
 */
export const recoverRollout = Effect.fnUntraced(function* (
  handle: FileHandle,
  located: RolloutLocation,
  row: IndexRow | undefined,
  scanBytes = maxScanBytes,
): Effect.fn.Return<RecoveredRollout, FileFault | StoreError> {
  const stat = yield* handle.stat
  const waypoints = new Waypoints()
  const header = yield* readOwnHeader(handle, located)
  if (isUnchanged(row, stat) && row.checked !== undefined) {
    return { header, version: stat, waypoints, checked: row.checked, repairs: [] }
  }
  const tail = yield* repairTail(handle, stat.bytes)
  const damage = new SkippedLines()
  let generation = row?.checked?.generation ?? 0
  const reader = new LogReader(handle, header, waypoints)
  const from = yield* reader.waypointNear(Math.max(0, tail.bytes - scanBytes))
  const end = yield* reader.scan(from, tail.bytes, (line) => {
    if (line.bad) damage.add(line.offset)
    generation = Math.max(generation, line.generation)
    return false
  })
  const version = yield* handle.stat
  return {
    header,
    version,
    waypoints,
    checked: { numbering: end.numbering, generation },
    repairs: [...(tail.repair === undefined ? [] : [tail.repair]), ...damage.all],
  }
})
