/**
 * Appends to one rollout file. A batch is one write at a known offset, synced when requested. After
 * a failure the file is truncated to its last good length, so that no part of a batch stays (L10,
 * L11). Nothing is written when the lease is lost, when the file was replaced, or when another
 * program has written to it (L16).
 *
 *   open ──append fails──▶ failed (file truncated; every further append fails)
 *     └────────close────────┬──close
 *                           ▼
 *                        closing (every further append fails with LeaseLost)
 *                           │ the running append has ended, or takes too long;
 *                           ▼ truncated again, if that failed before
 *                         closed (the file may be closed)
 */
import type { Durability, LogWriter } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { type AppendError, LeaseLost, StoreError, StoreLimit } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { retryScarcity } from "../internal/FileErrors.ts"
import type { FileFault, FileHandle, Files, FileStat } from "../Files.ts"
import type { Lease } from "../Leases.ts"
import { type EncoderState, encodeLines, markLine, type Numbering } from "./LineEncoder.ts"
import { longestLine } from "./LongestLine.ts"
import { writeAll } from "./WriteAll.ts"
import { storeError } from "../internal/StoreErrorMapping.ts"

/** Limits of one log. An append beyond a limit fails with `StoreLimit` and writes nothing. */
export interface WriterLimits {
  /** Number of durable events. */
  readonly maxEvents: number
  /** Length of the file. */
  readonly maxBytes: number
  /** Length of one record's line; a longer line could not be read again. */
  readonly maxLineBytes: number
}

/** The file that a writer appends to. */
export interface WriterTarget {
  readonly id: ConversationId
  readonly path: string
  /** Identity of the file that `handle` is open on. */
  readonly identity: string
  readonly handle: FileHandle
  readonly lease: Lease
  readonly generation: number
}

const utf8 = new TextEncoder()

/** Half of the time in which the core waits for the release of a lease: the rest of it takes its part. */
const longestWait = Duration.seconds(5)

/** The only writer of a rollout file. */
export class RolloutWriter implements LogWriter {
  readonly generation: number
  private readonly files: Files["Service"]
  private readonly target: WriterTarget
  private readonly limits: WriterLimits
  private readonly onAppended: (records: ReadonlyArray<LogRecord>) => void
  private state: EncoderState
  private length: number
  /** True once the file contains this writer's generation. */
  private hasGenerationMark: boolean
  private failed = false
  private phase: "open" | "closing" | "closed" = "open"
  /** Number of appends that have not ended. */
  private running = 0
  /** Opens when no append runs any more. Only `close` makes it. */
  private idle: Latch.Latch | undefined

  /**
   * @param start length of the file, numbering at its end, and whether the file contains this
   * writer's generation
   * @param onAppended called with every batch that was written
   */
  constructor(
    files: Files["Service"],
    target: WriterTarget,
    limits: WriterLimits,
    start: { readonly bytes: number; readonly state: EncoderState; readonly marked: boolean },
    onAppended: (records: ReadonlyArray<LogRecord>) => void,
  ) {
    this.files = files
    this.target = target
    this.limits = limits
    this.onAppended = onAppended
    this.generation = target.generation
    this.length = start.bytes
    this.state = start.state
    this.hasGenerationMark = start.marked
  }

  /** Length of the file's valid contents. Readers must not read beyond it. */
  get bytes(): number {
    return this.length
  }

  /** The numbering behind the last line. */
  get numbering(): Numbering {
    const { id, seq } = this.state
    return { id, seq }
  }

  append(
    records: ReadonlyArray<LogRecord>,
    durability: Durability,
  ): Effect.Effect<void, AppendError> {
    return Effect.uninterruptible(
      Effect.suspend(() =>
        this.phase !== "open"
          ? Effect.fail(this.leaseLost)
          : this.failed
            ? this.refuse("an earlier append failed")
            : this.counted(
                Effect.flatMap(this.checkOwnership(), () => this.appendAll(records, durability)),
              ),
      ),
    )
  }

  /**
   * Ends writing. Resolves when the running append has ended, since the next writer may write as soon as this one has
   * released its lease, or after a time limit. Removes what a failed append left in the file, if that was not possible
   * before.
   */
  get close(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.phase = "closing"
      if (this.running === 0) return this.finish
      this.idle = Latch.makeUnsafe(false)
      return Effect.andThen(Effect.timeoutOption(this.idle.await, longestWait), this.finish)
    })
  }

  private get finish(): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.andThen(
        this.failed ? this.truncateFailedAppend : Effect.void,
        Effect.sync(() => {
          this.phase = "closed"
        }),
      ),
    )
  }

  private counted<A, E>(append: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      this.running++
      return Effect.ensuring(
        append,
        Effect.sync(() => {
          this.running--
          if (this.running === 0) this.idle?.openUnsafe()
        }),
      )
    })
  }

  private appendAll(
    records: ReadonlyArray<LogRecord>,
    durability: Durability,
  ): Effect.Effect<void, AppendError> {
    const encoded = this.encoded(records)
    if (encoded instanceof StoreError) return Effect.fail(encoded)
    const { bytes, state } = encoded
    const limit = this.limitBeyond(state.seq, bytes)
    if (limit !== undefined) return Effect.fail(limit)
    const { handle } = this.target
    const written = writeAll(handle, this.length, bytes)
    return Effect.matchEffect(
      durability === "synced" ? Effect.flatMap(written, () => handle.sync) : written,
      {
        onFailure: (fault) => this.fail(fault),
        onSuccess: () => {
          this.length += bytes.length
          this.state = state
          this.hasGenerationMark = true
          this.onAppended(records)
          return Effect.void
        },
      },
    )
  }

  private limitBeyond(seq: number, bytes: Uint8Array): StoreLimit | undefined {
    const { id } = this.target
    const { maxBytes, maxEvents, maxLineBytes } = this.limits
    if (seq > maxEvents) return new StoreLimit({ id, limit: "events", max: maxEvents })
    if (this.length + bytes.length > maxBytes) {
      return new StoreLimit({ id, limit: "bytes", max: maxBytes })
    }
    return longestLine(bytes, maxLineBytes) > maxLineBytes
      ? new StoreLimit({ id, limit: "bytes", max: maxLineBytes })
      : undefined
  }

  /** The first batch of a writer starts with a mark that contains its generation. */
  private encoded(
    records: ReadonlyArray<LogRecord>,
  ): { readonly bytes: Uint8Array; readonly state: EncoderState } | StoreError {
    let next = this.state.seq
    for (const record of records) {
      if (record._tag === "Event" && record.event.seq !== next++) {
        return this.errorOf(`expected event ${next - 1}, got event ${record.event.seq}`)
      }
    }
    const { seq, id } = this.state
    const mark = this.hasGenerationMark
      ? ""
      : markLine(records[0]?.atMs ?? 0, { seq, id }, { generation: this.generation })
    const { state, text } = encodeLines(
      mark === "" ? this.state : { seq, id, unnumbered: 0 },
      records,
    )
    return { state, bytes: utf8.encode(mark + text) }
  }

  private checkOwnership(): Effect.Effect<void, StoreError | LeaseLost> {
    const { lease, path } = this.target
    return Effect.matchEffect(lease.isHeld, {
      onFailure: (fault) => Effect.fail(storeError("append", fault)),
      onSuccess: (isHeld) =>
        isHeld
          ? Effect.matchEffect(retryScarcity(this.files.stat(path)), {
              onFailure: (fault) => Effect.fail(storeError("append", fault)),
              onSuccess: (stat) => this.checkFile(stat),
            })
          : Effect.fail(this.leaseLost),
    })
  }

  private checkFile({ bytes, identity }: FileStat): Effect.Effect<void, StoreError | LeaseLost> {
    if (identity !== this.target.identity) return this.refuse("its file was replaced", "Gone")
    // Another program wrote without a lease, as the original does. Its lines are read when the
    // conversation is loaded again.
    return bytes === this.length ? Effect.void : Effect.fail(this.leaseLost)
  }

  private fail(fault: FileFault): Effect.Effect<never, StoreError> {
    this.failed = true
    const error = Effect.fail(storeError("append", fault))
    // What is left in a closed file is removed when it is opened again.
    return this.phase === "closed" ? error : Effect.andThen(this.truncateFailedAppend, error)
  }

  private get leaseLost(): LeaseLost {
    return new LeaseLost({ id: this.target.id, generation: this.generation })
  }

  private errorOf(problem: string, reason: StoreError["reason"] = "Other"): StoreError {
    const message = `conversation ${this.target.id}: ${problem}`
    return new StoreError({ operation: "append", reason, message })
  }

  private refuse(
    problem: string,
    reason: StoreError["reason"] = "Other",
  ): Effect.Effect<never, StoreError> {
    return Effect.fail(this.errorOf(problem, reason))
  }

  /**
   * Removes what a failed append left. Retried when the writer closes, because a disk that cannot
   * truncate a file now may do so then.
   */
  private get truncateFailedAppend(): Effect.Effect<void> {
    const { handle } = this.target
    return Effect.andThen(handle.truncate(this.length), handle.sync).pipe(
      Effect.catch((fault) =>
        Effect.logError(`a failed append could not be undone: ${fault.message}`),
      ),
    )
  }
}
