/**
 * Appends to one rollout file: one write per batch at a known offset, synced where that is asked for, cut back to the last
 * good length when anything fails, so that nothing half stays (L10, L11). Writes nothing when the lease is gone, the file
 * is not the one it was, or somebody else has written to it (L16).
 */
import type { Durability, LogWriter } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { type AppendError, LeaseLost, StoreError, StoreLimit } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { retryScarcity } from "../internal/FileErrors.ts"
import { type FileFault, type FileHandle, type Files } from "../Files.ts"
import type { Lease } from "../Leases.ts"
import { type EncoderState, encodeLines, markLine, type Numbering } from "./LineEncoder.ts"
import { storeError } from "../internal/StoreErrorMapping.ts"

export interface WriterLimits {
  /** Durable events in a log. */
  readonly maxEvents: number
  /** Of its file. */
  readonly maxBytes: number
  /** Of one record: a longer line is none that anybody reads again. */
  readonly maxLineBytes: number
}

export interface WriterTarget {
  readonly id: ConversationId
  readonly path: string
  /** Of the file the handle is for. */
  readonly identity: string
  readonly handle: FileHandle
  readonly lease: Lease
  readonly generation: number
}

const utf8 = new TextEncoder()

/** All of it; a write that stops short goes on behind what it has written. */
const writeAll = Effect.fnUntraced(function* (
  handle: FileHandle,
  offset: number,
  bytes: Uint8Array,
): Effect.fn.Return<void, FileFault> {
  for (let written = 0; written < bytes.length;) {
    written += yield* handle.write(offset + written, bytes.subarray(written))
  }
})

/** Not looked for where all of them together are short enough. */
const longestLine = (bytes: Uint8Array, enough: number): number => {
  if (bytes.length <= enough) return bytes.length
  let longest = 0
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(0x0a, from) + 1
    longest = Math.max(longest, end - from)
    from = end
  }
  return longest
}

export class RolloutWriter implements LogWriter {
  readonly generation: number
  private readonly files: Files["Service"]
  private readonly target: WriterTarget
  private readonly limits: WriterLimits
  private readonly onAppended: (records: ReadonlyArray<LogRecord>) => void
  private state: EncoderState
  private length: number
  /** True once the file says which writer this is. */
  private hasGenerationMark: boolean
  private failed = false
  private closed = false

  /**
   * @param begin where the file ends and the numbering stands
   * @param appended is told of every batch that is there
   */
  constructor(
    files: Files["Service"],
    target: WriterTarget,
    limits: WriterLimits,
    begin: { readonly bytes: number; readonly state: EncoderState; readonly marked: boolean },
    appended: (records: ReadonlyArray<LogRecord>) => void,
  ) {
    this.files = files
    this.target = target
    this.limits = limits
    this.onAppended = appended
    this.generation = target.generation
    this.length = begin.bytes
    this.state = begin.state
    this.hasGenerationMark = begin.marked
  }

  /** Bytes of the file that are good: nobody reads farther. */
  get bytes(): number {
    return this.length
  }

  /** Behind the last line. */
  get numbering(): Numbering {
    const { id, seq } = this.state
    return { id, seq }
  }

  append(
    records: ReadonlyArray<LogRecord>,
    durability: Durability,
  ): Effect.Effect<void, AppendError> {
    return Effect.uninterruptible(this.appendAll(records, durability))
  }

  /** Nothing is written any more; what a failed append left is cut off if that can be done now. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.closed = true
    return this.failed ? this.truncateFailedAppend : Effect.void
  })

  private readonly appendAll = Effect.fnUntraced(function* (
    this: RolloutWriter,
    records: ReadonlyArray<LogRecord>,
    durability: Durability,
  ): Effect.fn.Return<void, AppendError> {
    const { handle, id } = this.target
    if (this.closed) return yield* this.leaseLost
    if (this.failed) return yield* this.refuse("an earlier append failed")
    yield* this.checkOwnership()
    const { state, text } = yield* this.encoded(records)
    const bytes = utf8.encode(text)
    const { maxBytes, maxEvents, maxLineBytes } = this.limits
    if (state.seq > maxEvents) return yield* new StoreLimit({ id, limit: "events", max: maxEvents })
    if (this.length + bytes.length > maxBytes) {
      return yield* new StoreLimit({ id, limit: "bytes", max: maxBytes })
    }
    if (longestLine(bytes, maxLineBytes) > maxLineBytes) {
      return yield* new StoreLimit({ id, limit: "bytes", max: maxLineBytes })
    }
    yield* writeAll(handle, this.length, bytes).pipe(
      Effect.andThen(durability === "synced" ? handle.sync : Effect.void),
      Effect.catch((fault) => this.fail(fault)),
    )
    this.length += bytes.length
    this.state = state
    this.hasGenerationMark = true
    this.onAppended(records)
  })

  /** The first batch of a writer begins with who it is. */
  private encoded(records: ReadonlyArray<LogRecord>) {
    return Effect.suspend(() => {
      let next = this.state.seq
      for (const record of records) {
        if (record._tag === "Event" && record.event.seq !== next++) {
          return this.refuse(`event ${next - 1} is expected, not ${record.event.seq}`)
        }
      }
      const { seq, id } = this.state
      const mark = this.hasGenerationMark
        ? ""
        : markLine(records[0]?.atMs ?? 0, { seq, id }, { generation: this.generation })
      const encoded = encodeLines(mark === "" ? this.state : { seq, id, unnumbered: 0 }, records)
      return Effect.succeed({ state: encoded.state, text: mark + encoded.text })
    })
  }

  private readonly checkOwnership = Effect.fnUntraced(function* (
    this: RolloutWriter,
  ): Effect.fn.Return<void, StoreError | LeaseLost> {
    const { identity, lease, path } = this.target
    const { isHeld, stat } = yield* Effect.mapError(
      Effect.all({ isHeld: lease.isHeld, stat: retryScarcity(this.files.stat(path)) }),
      (fault) => storeError("append", fault),
    )
    if (!isHeld) return yield* this.leaseLost
    if (stat.identity !== identity) {
      return yield* this.refuse("its file was replaced by another one", "Gone")
    }
    // Somebody without a lease, as the original is: who loads it again sees what they wrote.
    if (stat.bytes !== this.length) return yield* this.leaseLost
  })

  private fail(fault: FileFault): Effect.Effect<never, StoreError> {
    this.failed = true
    return Effect.andThen(this.truncateFailedAppend, Effect.fail(storeError("append", fault)))
  }

  private get leaseLost(): LeaseLost {
    return new LeaseLost({ id: this.target.id, generation: this.generation })
  }

  private refuse(
    problem: string,
    reason: StoreError["reason"] = "Other",
  ): Effect.Effect<never, StoreError> {
    const message = `conversation ${this.target.id}: ${problem}`
    return Effect.fail(new StoreError({ operation: "append", reason, message }))
  }

  /** Tried again when the writer closes: a disk that cannot shorten a file now may do it then. */
  private readonly truncateFailedAppend: Effect.Effect<void> = Effect.suspend(() => {
    const { handle } = this.target
    return Effect.andThen(handle.truncate(this.length), handle.sync)
  }).pipe(
    Effect.catch((fault) =>
      Effect.logError(`a failed append could not be undone: ${fault.message}`),
    ),
  )
}
