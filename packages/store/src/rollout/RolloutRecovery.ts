/**
 * Opens a rollout for writing: the tail is repaired, what cannot be read is told of, and the numbering found. A file that is
 * none of ours, or not that of the conversation it is named after, is left untouched (L11).
 */
import type { Repair } from "@colloquy/core/ConversationStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import * as Effect from "effect/Effect"
import type { FileFault, FileHandle } from "../Files.ts"
import type { RolloutHeader } from "./RolloutHeader.ts"
import type { RolloutLocation } from "./RolloutLocator.ts"
import { LogReader, Waypoints } from "./LogReader.ts"
import { readHeader } from "./IndexRowReader.ts"
import { formatVersion } from "./LineEncoder.ts"
import type { CheckedLog, FileVersion, IndexRow } from "../RolloutIndex.ts"
import { repairTail } from "./TailRepair.ts"

/** Lines told of one by one; of a file with more the rest is counted. */
const maxRepairs = 20

export interface RecoveredRollout {
  readonly header: RolloutHeader
  readonly version: FileVersion
  readonly waypoints: Waypoints
  readonly checked: CheckedLog
  readonly repairs: ReadonlyArray<Repair>
}

const foreignFile = (located: RolloutLocation, message: string): StoreError =>
  new StoreError({ operation: "open", reason: "Foreign", message: `${located.path}: ${message}` })

/** The header, where it is that of the conversation. */
export const readOwnHeader = Effect.fnUntraced(function* (
  handle: FileHandle,
  located: RolloutLocation,
): Effect.fn.Return<RolloutHeader, FileFault | StoreError> {
  const head = yield* readHeader(handle)
  if (head === undefined) {
    return yield* foreignFile(
      located,
      "expected a rollout file, which begins with its session_meta",
    )
  }
  const { formatVersion: written = formatVersion, meta } = head.header
  const { id } = meta
  if (written > formatVersion) {
    const message = `written by a later version of Colloquy in format ${written}; this version reads format ${formatVersion}`
    return yield* foreignFile(located, message)
  }
  return id === located.id
    ? head.header
    : yield* foreignFile(located, `expected the id ${located.id} of its name, it is of ${id}`)
})

const isUnchanged = (row: IndexRow | undefined, version: FileVersion): row is IndexRow =>
  row !== undefined &&
  row.version.bytes === version.bytes &&
  row.version.modifiedMs === version.modifiedMs &&
  row.version.identity === version.identity

class SkippedLines {
  private readonly told: Array<Repair> = []
  private count = 0

  add(offset: number): void {
    if (++this.count > maxRepairs) return
    const message = `the line at offset ${offset} cannot be read and is left out`
    this.told.push({ kind: "bad_line_skipped", message })
  }

  get all(): ReadonlyArray<Repair> {
    const more = this.count - this.told.length
    if (more === 0) return this.told
    const message = `${more} more lines cannot be read and are left out`
    return [...this.told, { kind: "bad_line_skipped", message }]
  }
}

/**
 * How much of the end of a file is looked through that nobody vouches for. What a crash can have torn stands there; what is
 * wrong farther up is left out by whoever reads it, and a file of any length is open within a second or so.
 */
const maxScanBytes = 32 * 1024 * 1024

/** @param row what the index has of it, which spares looking through a file that was read or written before */
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
