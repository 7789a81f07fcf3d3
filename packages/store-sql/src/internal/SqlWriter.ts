/**
 * Appends to one log. The database adds a batch only if the lease is valid and of this generation, and the log has exactly
 * the records that this writer knows, all in one transaction (L16). A batch whose outcome is not known can therefore be sent
 * again: the database has it already, or takes it once.
 *
 * ```
 *   open ── append ──▶ open
 *    ├── released, lost, or refused by the database ──▶ closed (every append fails)
 *    └── the outcome of a batch stays unknown ──▶ closed
 * ```
 */
import type { Durability, LogWriter } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { type AppendError, LeaseLost, StoreError, StoreLimit } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Dialect } from "./Dialect.ts"
import type { HeldLease, HeldWriter } from "./Holder.ts"
import { insertBatch, insertRecords } from "./RecordRows.ts"
import { type Patience, retrying } from "./Retrying.ts"
import { type BatchColumns, batchColumns } from "./Rows.ts"

/** The largest log that the store accepts. */
export interface Limits {
  readonly maxEvents: number
  readonly maxBytes: number
}

/** What a writer is made of. */
export interface WriterOptions extends HeldLease {
  readonly id: ConversationId
  /** Token of the store that has the lease. */
  readonly token: string
  /** Number of records, of events, and size of the log as it was when the lease was taken. */
  readonly length: number
  readonly events: number
  readonly bytes: number
  readonly limits: Limits
  readonly patience: Patience
}

/** The row as it is after the database refused a batch. */
interface RefusedRow {
  readonly log: number
  readonly length: number
  readonly generation: number
  readonly holder: string | null
}

/** The writer of one log. */
export class SqlWriter implements LogWriter, HeldWriter {
  readonly generation: number
  private readonly options: WriterOptions
  private readonly sql: SqlClient
  private readonly dialect: Dialect
  private length: number
  private events: number
  private bytes: number
  private closed: AppendError | undefined
  private isLost = false
  private notifyLost: (() => void) | undefined

  constructor(sql: SqlClient, dialect: Dialect, options: WriterOptions) {
    this.sql = sql
    this.dialect = dialect
    this.options = options
    this.generation = options.generation
    this.length = options.length
    this.events = options.events
    this.bytes = options.bytes
  }

  /** Every commit is synced, so that both levels are the same. */
  append(records: ReadonlyArray<LogRecord>, _: Durability): Effect.Effect<void, AppendError> {
    return Effect.suspend(() => {
      if (this.closed !== undefined) return Effect.fail(this.closed)
      if (records.length === 0) return Effect.void
      const batch = batchColumns(records)
      const limit = this.exceeded(batch)
      if (limit !== undefined) return Effect.fail(limit)
      const { patience } = this.options
      return retrying("append", patience, ({ mayBeDone }) => this.attempt(batch, mayBeDone)).pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            this.length += batch.records.length
            this.events += batch.events
            this.bytes += batch.bytes
          }),
        ),
        Effect.tapError((error) => Effect.sync(() => this.close(error))),
      )
    }).pipe(Effect.uninterruptible)
  }

  /** Appends nothing any more. */
  close(because: AppendError = this.lost): void {
    this.closed ??= because
  }

  /** Likewise, and notifies the user of the writer, who has not found out by an append. */
  lose(): void {
    if (this.closed !== undefined) return
    this.close()
    this.isLost = true
    this.notifyLost?.()
  }

  onLost(notify: () => void): void {
    this.notifyLost = notify
    if (this.isLost) notify()
  }

  private attempt(
    batch: BatchColumns,
    mayBeDone: boolean,
  ): Effect.Effect<void, SqlError | AppendError> {
    return Effect.flatMap(this.write(batch), (isWritten) =>
      isWritten ? Effect.void : this.refused(batch, mayBeDone),
    )
  }

  /** False when the database refused the batch. */
  private write(batch: BatchColumns): Effect.Effect<boolean, SqlError> {
    const { dialect, generation, length, sql } = this
    const { log } = this.options
    const fenced = this.fence(batch)
    const place = { log, position: length, generation }
    if (dialect.isPostgres) {
      const from = sql.literal("fenced")
      const statement = sql`WITH fenced AS (${fenced}), added AS (
        ${insertBatch(sql, from, place, batch.records)}) SELECT log FROM fenced`
      return Effect.map(statement, (rows) => rows.length > 0)
    }
    return sql.withTransaction(
      Effect.flatMap(sql`${fenced}`, (rows) =>
        rows.length === 0
          ? Effect.succeed(false)
          : Effect.as(insertRecords(sql, dialect, place, batch.records), true),
      ),
    )
  }

  /** Lengthens the log if this writer may append and knows all of it. */
  private fence({ bytes, events, preview, previewFolded, records, updatedAtMs }: BatchColumns) {
    const { dialect, generation, length, sql } = this
    const { log, token } = this.options
    return sql`UPDATE colloquy_conversations SET length = length + ${records.length},
        events = events + ${events}, bytes = bytes + ${bytes}, updated_at_ms = ${updatedAtMs ?? 0},
        preview = coalesce(preview, ${preview}), preview_folded = coalesce(preview_folded, ${previewFolded})
      WHERE log = ${log} AND generation = ${generation} AND holder = ${token} AND length = ${length}
        AND EXISTS (SELECT 1 FROM colloquy_holders AS h WHERE h.token = ${token} AND h.until_ms > ${dialect.nowMs})
      RETURNING log`
  }

  /** Says why the database refused the batch, unless an earlier attempt has written it. */
  private refused(
    batch: BatchColumns,
    mayBeDone: boolean,
  ): Effect.Effect<void, SqlError | LeaseLost | StoreError> {
    const { generation, length, sql } = this
    const { id, log, token } = this.options
    const rows = sql<RefusedRow>`SELECT log, length, generation, holder FROM colloquy_conversations
      WHERE log = ${log}`
    return Effect.flatMap(rows, ([row]): Effect.Effect<void, LeaseLost | StoreError> => {
      if (row === undefined) return this.failed("Gone", `conversation ${id} was deleted`)
      if (row.generation > generation) return Effect.fail(this.lost)
      const isOwn = row.generation === generation && row.holder === token
      if (isOwn && mayBeDone && row.length === length + batch.records.length) return Effect.void
      if (row.generation < generation || row.length < length) {
        return this.failed(
          "Reverted",
          `conversation ${id} has ${row.length} records of generation ${row.generation} in the database, and had ${length} of generation ${generation}: the database went back to an earlier state`,
        )
      }
      return Effect.fail(this.lost)
    })
  }

  private exceeded({ bytes, events }: BatchColumns): StoreLimit | undefined {
    const { id, limits } = this.options
    if (this.events + events > limits.maxEvents) {
      return new StoreLimit({ id, limit: "events", max: limits.maxEvents })
    }
    return this.bytes + bytes > limits.maxBytes
      ? new StoreLimit({ id, limit: "bytes", max: limits.maxBytes })
      : undefined
  }

  private failed(reason: StoreError["reason"], message: string): Effect.Effect<never, StoreError> {
    return Effect.fail(new StoreError({ operation: "append", reason, message }))
  }

  private get lost(): LeaseLost {
    return new LeaseLost({ id: this.options.id, generation: this.generation })
  }
}
