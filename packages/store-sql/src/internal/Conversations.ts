/**
 * The rows of conversations: how they come to be, who takes their leases, and how they go. Each function is one transaction,
 * and finds out when an earlier attempt at it was carried out without an answer.
 */
import { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { ConversationMeta, Revision } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { LeaseHeld, StoreError } from "@colloquy/core/StoreErrors"
import { defined } from "@colloquy/protocol/Defined"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Dialect } from "./Dialect.ts"
import type { Holder, HolderExpired, HolderProcess } from "./Holder.ts"
import { insertRecords } from "./RecordRows.ts"
import type { Attempt } from "./Retrying.ts"
import {
  type BatchColumns,
  batchColumns,
  type LogRow,
  metaColumns,
  revisionOf,
  type SummaryRow,
  textColumn,
} from "./Rows.ts"
import {
  insertShares,
  ownRuns,
  removeUnused,
  type Share,
  sharesOf,
  sourceEvents,
} from "./Shares.ts"

/** A conversation's row. */
export interface ConversationRow extends SummaryRow, LogRow {
  readonly id: string
  readonly events: number
  readonly bytes: number
  readonly generation: number
  readonly holder: string | null
  readonly leased_at_ms: number | null
}

/** A lease that was taken, with the row as it is now. */
export interface TakenLease {
  readonly token: string
  readonly row: ConversationRow
}

interface HeldRow extends ConversationRow {
  /** The process of a holder whose leases are valid; null when there is none. */
  readonly process: string | null
}

const columns =
  "log, id, meta, updated_at_ms, preview, name, archived, length, events, bytes, shares, generation, holder, leased_at_ms"

/** Fails where the conversation has another revision: it was used since that one was read. */
const checkRevision = (
  row: ConversationRow,
  revision: Revision | undefined,
): Effect.Effect<void, LeaseHeld> =>
  revision === undefined || revision === revisionOf(row)
    ? Effect.void
    : Effect.fail(new LeaseHeld({ id: row.id, holder: {} }))

/** Below this length a fork copies: its records are few. */
const minShared = 8

/** The rows of conversations in one database. */
export class Conversations {
  private readonly sql: SqlClient
  private readonly dialect: Dialect
  private readonly holder: Holder

  constructor(sql: SqlClient, dialect: Dialect, holder: Holder) {
    this.sql = sql
    this.dialect = dialect
    this.holder = holder
  }

  /** The row of a conversation. */
  find(id: string): Effect.Effect<ConversationRow, SqlError | NoSuchConversation> {
    const { sql } = this
    return Effect.flatMap(
      sql<ConversationRow>`SELECT ${sql.literal(columns)} FROM colloquy_conversations
        WHERE id = ${textColumn(id)}`,
      ([row]) =>
        row === undefined ? Effect.fail(new NoSuchConversation({ id })) : Effect.succeed(row),
    )
  }

  /** Adds a conversation with its first records, whose lease is taken. */
  create(
    meta: ConversationMeta,
    records: ReadonlyArray<LogRecord>,
    { mayBeDone }: Attempt,
  ): Effect.Effect<TakenLease, SqlError | StoreError> {
    const batch = batchColumns(records)
    return this.holder.use((token) =>
      this.sql.withTransaction(
        Effect.gen({ self: this }, function* () {
          yield* this.holder.check(token)
          const shares = yield* this.sharesOf(meta, batch)
          const row = yield* this.insert(meta, batch, shares.length, token)
          if (row === undefined) return yield* this.existing(meta, token, mayBeDone)
          const { generation, log } = row
          for (const run of ownRuns(batch.records, shares)) {
            const place = { log, position: run.position, generation }
            yield* insertRecords(this.sql, this.dialect, place, run.records)
          }
          yield* insertShares(this.sql, log, shares)
          return { token, row }
        }),
      ),
    )
  }

  /** Takes the lease of a conversation. */
  open(id: string): Effect.Effect<TakenLease, SqlError | NoSuchConversation | LeaseHeld> {
    const { dialect, sql } = this
    return this.holder.use((token) =>
      sql.withTransaction(
        Effect.gen({ self: this }, function* () {
          yield* this.holder.check(token)
          const { log } = yield* this.unleased(id)
          const [row] = yield* sql<ConversationRow>`UPDATE colloquy_conversations
            SET generation = generation + 1, holder = ${token}, leased_at_ms = ${dialect.nowMs}
            WHERE log = ${log} RETURNING ${sql.literal(columns)}`
          return row === undefined ? yield* new NoSuchConversation({ id }) : { token, row }
        }),
      ),
    )
  }

  /** Archives a conversation, or reverses it. It gets another revision, as if its lease had been taken and given back. */
  setArchived(
    id: string,
    archived: boolean,
    revision: Revision | undefined,
  ): Effect.Effect<unknown, SqlError | NoSuchConversation | LeaseHeld> {
    const { sql } = this
    const mark = archived ? 1 : 0
    return sql.withTransaction(
      Effect.gen({ self: this }, function* () {
        const row = yield* this.unleased(id)
        // An earlier attempt may have been carried out.
        if (row.archived === mark) return
        yield* checkRevision(row, revision)
        yield* sql`UPDATE colloquy_conversations
          SET archived = ${mark}, generation = generation + 1, holder = NULL WHERE log = ${row.log}`
      }),
    )
  }

  /** Names a conversation. */
  rename(
    id: string,
    name: string,
    folded: string,
  ): Effect.Effect<void, SqlError | NoSuchConversation> {
    const { sql } = this
    return Effect.flatMap(
      sql`UPDATE colloquy_conversations SET name = ${textColumn(name)}, name_folded = ${folded}
        WHERE id = ${textColumn(id)} RETURNING log`,
      ([row]) => (row === undefined ? Effect.fail(new NoSuchConversation({ id })) : Effect.void),
    )
  }

  /** Removes a conversation, and the rows of logs that only it had. */
  delete(
    id: string,
    revision: Revision | undefined,
    { mayBeDone }: Attempt,
  ): Effect.Effect<void, SqlError | NoSuchConversation | LeaseHeld> {
    const { dialect, sql } = this
    const remove = Effect.gen({ self: this }, function* () {
      yield* dialect.lockRemovals
      const row = yield* this.unleased(id)
      yield* checkRevision(row, revision)
      const { log } = row
      const sources = yield* sql<{
        readonly source: number
      }>`SELECT DISTINCT source FROM colloquy_shares WHERE log = ${log}`
      yield* sql`DELETE FROM colloquy_conversations WHERE log = ${log}`
      yield* sql`DELETE FROM colloquy_shares WHERE log = ${log}`
      yield* removeUnused(sql, [log, ...sources.map(({ source }) => source)])
    })
    return sql
      .withTransaction(remove)
      .pipe(
        Effect.catchTag("NoSuchConversation", (error) =>
          mayBeDone ? Effect.void : Effect.fail(error),
        ),
      )
  }

  /** The row of a conversation that no other writer has, locked until the transaction ends. */
  private unleased(
    id: string,
  ): Effect.Effect<ConversationRow, SqlError | NoSuchConversation | LeaseHeld> {
    return Effect.flatMap(
      this.held(id),
      (row): Effect.Effect<HeldRow, NoSuchConversation | LeaseHeld> => {
        if (row === undefined) return Effect.fail(new NoSuchConversation({ id }))
        if (row.process === null || this.holder.isLeftOver(row.holder, row))
          return Effect.succeed(row)
        // The store wrote it.
        const process = JSON.parse(row.process) as HolderProcess
        if (row.holder !== null && this.holder.isEnded(process)) return Effect.succeed(row)
        const { host, pid, url } = process
        // The clock of PostgreSQL has fractions of a millisecond.
        const sinceMs = row.leased_at_ms === null ? undefined : Math.trunc(row.leased_at_ms)
        return Effect.fail(new LeaseHeld({ id, holder: defined({ host, pid, url, sinceMs }) }))
      },
    )
  }

  private held(id: string): Effect.Effect<HeldRow | undefined, SqlError> {
    const { dialect, sql } = this
    const names = sql.literal(
      columns
        .split(", ")
        .map((name) => `c.${name}`)
        .join(", "),
    )
    return Effect.map(
      sql<HeldRow>`SELECT ${names}, h.process FROM colloquy_conversations AS c
        LEFT JOIN colloquy_holders AS h ON h.token = c.holder AND h.until_ms > ${dialect.nowMs}
        WHERE c.id = ${textColumn(id)} ${dialect.lockConversation}`,
      ([row]) => row,
    )
  }

  private insert(
    meta: ConversationMeta,
    { bytes, events, preview, previewFolded, records, updatedAtMs }: BatchColumns,
    shares: number,
    token: string,
  ): Effect.Effect<ConversationRow | undefined, SqlError> {
    const { dialect, sql } = this
    const { created_at_ms, cwd, id, meta: text, owner, provider } = metaColumns(meta)
    return Effect.map(
      sql<ConversationRow>`INSERT INTO colloquy_conversations
        (id, created_at_ms, updated_at_ms, cwd, provider, owner, meta, preview, preview_folded, length, events, bytes,
          generation, holder, leased_at_ms, shares)
        VALUES (${id}, ${created_at_ms}, ${updatedAtMs ?? meta.createdAtMs}, ${cwd}, ${provider}, ${owner}, ${text},
          ${preview}, ${previewFolded}, ${records.length}, ${events}, ${bytes}, 1, ${token}, ${dialect.nowMs}, ${shares})
        ON CONFLICT (id) DO NOTHING RETURNING ${sql.literal(columns)}`,
      ([row]) => row,
    )
  }

  /** The id is in use, unless by the conversation that an earlier attempt created. */
  private existing(
    meta: ConversationMeta,
    token: string,
    mayBeDone: boolean,
  ): Effect.Effect<TakenLease, SqlError | StoreError> {
    const message = `conversation ${meta.id} exists already`
    const exists = Effect.fail(new StoreError({ operation: "create", reason: "Exists", message }))
    if (!mayBeDone) return exists
    return this.find(meta.id).pipe(
      Effect.flatMap((row) =>
        row.generation === 1 &&
        this.holder.isLeftOver(row.holder, row) &&
        row.meta === JSON.stringify(meta)
          ? Effect.succeed({ token, row })
          : exists,
      ),
      Effect.catchTag("NoSuchConversation", () => exists),
    )
  }

  /** The events that a fork shares with the log it was forked from, where that log is in this database. */
  private sharesOf(
    { forkedFrom }: ConversationMeta,
    { records }: BatchColumns,
  ): Effect.Effect<ReadonlyArray<Share>, SqlError | HolderExpired> {
    if (forkedFrom === undefined || records.length < minShared) return Effect.succeed([])
    return Effect.flatMap(this.held(forkedFrom), (row) =>
      row === undefined
        ? Effect.succeed([])
        : Effect.map(sourceEvents(this.sql, row), (events) => sharesOf(records, events)),
    )
  }
}
