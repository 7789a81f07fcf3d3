/**
 * The conversation store in a database: PostgreSQL, or SQLite in one file. A commit of the database is what every operation
 * resolves with (L10). The lease of a conversation is a generation in its row, which every append checks in its own
 * transaction, and the clock of leases is that of the database (L16). Events that a fork has from another conversation are
 * stored once.
 *
 * While the database cannot be reached an operation is tried for some seconds; then it fails with a `StoreError`.
 */
import { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import {
  type ConversationMeta,
  ConversationStore,
  type ListQuery,
  type LogAddress,
  type LogWriter,
  type OpenedLog,
  type Revision,
} from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { QuotaPlaces } from "@colloquy/core/QuotaPlaces"
import { type LeaseHeld, StoreError } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { SqlError } from "effect/sql/SqlError"
import { Conversations, type ConversationRow, type TakenLease } from "./internal/Conversations.ts"
import { type Dialect, dialectOf } from "./internal/Dialect.ts"
import { Holder, type Processes } from "./internal/Holder.ts"
import { KeyedLocks } from "./internal/KeyedLocks.ts"
import { listPage } from "./internal/Listing.ts"
import * as LogPages from "./internal/LogPages.ts"
import { type Attempt, defaultPatience, type Patience, retrying } from "./internal/Retrying.ts"
import { folded, revisionOf, summaryOf } from "./internal/Rows.ts"
import { type Operation, storeError } from "./internal/SqlFaults.ts"
import { SqlPlaces } from "./internal/SqlPlaces.ts"
import { type Limits, SqlWriter } from "./internal/SqlWriter.ts"
import { migrate } from "./Migrations.ts"
import type { SchemaTooNew } from "./SqlStoreErrors.ts"

type Service = ConversationStore["Service"]

/** Options of the store. */
export interface SqlStoreOptions extends Partial<Limits> {
  /**
   * How long leases outlive a process that has stopped renewing them. Default: 10 seconds, of which a process may pause
   * two thirds.
   */
  readonly leaseFor?: Duration.Duration
  /** What is known of processes. Default: nothing; the leases of one that was killed end after `leaseFor`. */
  readonly processes?: Processes
  /** How long an operation is tried while the database cannot be reached. */
  readonly patience?: Patience
  /** How long the layer waits for a database that cannot be reached. Default: 10 seconds. */
  readonly startWithin?: Duration.Duration
}

/** Long enough for a database that restarts. */
const defaultStart = Duration.seconds(10)

const defaultLease = Duration.seconds(10)

/** The same limits as those of rollout files, so that each log can be copied to the other store. */
const defaultLimits: Limits = { maxEvents: 1_000_000, maxBytes: 2 * 1024 ** 3 }

const noProcesses: Processes = { own: () => ({}), isEnded: () => false }

class SqlStore implements Service {
  private readonly sql: SqlClient.SqlClient
  private readonly dialect: Dialect
  private readonly holder: Holder
  private readonly conversations: Conversations
  /**
   * A lease of this store without a writer is one that was left over. Between its taking in the database and its writer
   * nothing else of this process may look at it.
   */
  private readonly locks = new KeyedLocks()
  private readonly limits: Limits
  private readonly patience: Patience

  constructor(
    sql: SqlClient.SqlClient,
    dialect: Dialect,
    holder: Holder,
    options: SqlStoreOptions,
  ) {
    this.sql = sql
    this.dialect = dialect
    this.holder = holder
    this.conversations = new Conversations(sql, dialect, holder)
    const { maxBytes, maxEvents } = defaultLimits
    this.limits = {
      maxEvents: options.maxEvents ?? maxEvents,
      maxBytes: options.maxBytes ?? maxBytes,
    }
    this.patience = options.patience ?? defaultPatience
  }

  create(
    meta: ConversationMeta,
    records: ReadonlyArray<LogRecord>,
  ): Effect.Effect<LogWriter, StoreError, Scope.Scope> {
    const create = this.retrying("create", (attempt) =>
      this.conversations.create(meta, records, attempt),
    )
    return Effect.map(this.lease(meta.id, create), ({ writer }) => writer)
  }

  open(
    where: LogAddress,
  ): Effect.Effect<OpenedLog, StoreError | NoSuchConversation | LeaseHeld, Scope.Scope> {
    if (!("id" in where)) return Effect.fail(new NoSuchConversation({ id: where.path }))
    const { id } = where
    const open = this.retrying("open", () => this.conversations.open(id))
    return Effect.map(this.lease(id, open), ({ row, writer }) => ({
      writer,
      summary: summaryOf(row),
      repairs: [],
    }))
  }

  readonly read: Service["read"] = (id, { from = 0, max }) =>
    this.reading("read", id, (row) => LogPages.readForward(this.sql, row, from, max))

  readonly readBackward: Service["readBackward"] = (id, { before, max }) =>
    this.reading("read", id, (row) =>
      LogPages.readBackward(this.sql, row, before ?? row.length, max),
    )

  readonly positionOf: Service["positionOf"] = (id, seq) =>
    this.reading("read", id, (row) => LogPages.positionOf(this.sql, row, seq))

  readonly list = (query: ListQuery) =>
    this.retrying("list", () => listPage(this.sql, this.dialect, query))

  readonly metadata: Service["metadata"] = (where) =>
    "id" in where
      ? this.reading("metadata", where.id, (row) =>
          Effect.succeed({ ...summaryOf(row), revision: revisionOf(row) }),
        )
      : Effect.fail(new NoSuchConversation({ id: where.path }))

  readonly archive = (id: ConversationId, revision?: Revision) =>
    this.changing("archive", id, () => this.conversations.setArchived(id, true, revision))

  readonly unarchive = (id: ConversationId, revision?: Revision) =>
    this.changing("unarchive", id, () => this.conversations.setArchived(id, false, revision))

  readonly rename = (id: ConversationId, name: string) =>
    this.changing("rename", id, () => this.conversations.rename(id, name, folded(name)))

  readonly delete = (id: ConversationId, revision?: Revision) =>
    this.changing("delete", id, (attempt) => this.conversations.delete(id, revision, attempt))

  private retrying<A, E, R>(
    operation: Operation,
    attempt: (attempt: Attempt) => Effect.Effect<A, E | SqlError, R>,
  ) {
    return retrying(operation, this.patience, attempt)
  }

  private changing<E>(
    operation: Operation,
    id: ConversationId,
    attempt: (attempt: Attempt) => Effect.Effect<unknown, E | SqlError>,
  ) {
    const change = Effect.asVoid(this.retrying(operation, attempt))
    return Effect.uninterruptible(this.locks.with(id, change))
  }

  private reading<A, E>(
    operation: Operation,
    id: ConversationId,
    use: (row: ConversationRow) => Effect.Effect<A, E | SqlError>,
  ): Effect.Effect<A, Exclude<E, SqlError> | NoSuchConversation | StoreError> {
    return this.retrying(operation, () => Effect.flatMap(this.conversations.find(id), use))
  }

  /** Holds a lease until the scope closes. Not `acquireRelease`: its finalizer would keep the context of the caller alive. */
  private lease<E>(
    id: ConversationId,
    take: Effect.Effect<TakenLease, E>,
  ): Effect.Effect<{ readonly writer: SqlWriter; readonly row: ConversationRow }, E, Scope.Scope> {
    const held = Effect.gen({ self: this }, function* () {
      const scope = yield* Effect.scope
      const { row, token } = yield* take
      const { bytes, events, generation, length, log } = row
      const { limits, patience } = this
      const lease = { log, generation }
      const options = { ...lease, id, token, length, events, bytes, limits, patience }
      const writer = new SqlWriter(this.sql, this.dialect, options)
      this.holder.hold(token, lease, writer)
      yield* Scope.addFinalizer(scope, this.released(writer, token, lease))
      return { writer, row }
    })
    return Effect.uninterruptible(this.locks.with(id, held))
  }

  /** By itself, so that it keeps nothing else of the taking alive. */
  private released(
    writer: SqlWriter,
    token: string,
    lease: { readonly log: number; readonly generation: number },
  ): Effect.Effect<void> {
    return Effect.suspend(() => {
      writer.close()
      return this.holder.release(token, lease)
    })
  }
}

/** A client whose errors are those of the store. */
export const clientLayer = <R>(client: Layer.Layer<R, SqlError>): Layer.Layer<R, StoreError> =>
  Layer.catch(client, (error) => Layer.unwrap(Effect.fail(storeError("open", error))))

/** The migrations may wait for those of another program, so that only the whole time is limited. */
const startPatience = (startWithin: Duration.Duration): Patience => ({
  attempt: Duration.infinity,
  total: startWithin,
})

/** Fails for a database that cannot store every text. */
const checkEncoding = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (!dialectOf(sql).isPostgres) return
  const [row] = yield* sql<{
    readonly encoding: string
  }>`SELECT current_setting('server_encoding') AS encoding`
  if (row === undefined || row.encoding === "UTF8") return
  const message = `the database has the encoding ${row.encoding}; expected UTF8`
  return yield* new StoreError({ operation: "open", reason: "Other", message })
})

/** Brings the tables up to date, as soon as the database can be reached. */
const start = (
  startWithin: Duration.Duration,
): Effect.Effect<void, StoreError | SchemaTooNew, SqlClient.SqlClient> =>
  retrying("open", startPatience(startWithin), () => Effect.andThen(checkEncoding, migrate)).pipe(
    Effect.catchTag("MigrationError", ({ cause, message }) =>
      Effect.fail(
        cause instanceof SqlError
          ? storeError("open", cause)
          : new StoreError({ operation: "open", reason: "Other", message }),
      ),
    ),
  )

/**
 * Layer of the store over a client of `effect/sql`. Brings the tables up to date first, and waits for a database that cannot
 * be reached. The leases of the store end with the layer.
 *
 * It provides `QuotaPlaces` as well: the quotas of owners are counted over all processes of the database.
 */
export const layer = (
  options: SqlStoreOptions = {},
): Layer.Layer<ConversationStore, StoreError | SchemaTooNew, SqlClient.SqlClient> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const {
        leaseFor = defaultLease,
        patience = defaultPatience,
        processes = noProcesses,
        startWithin = defaultStart,
      } = options
      yield* start(startWithin)
      const dialect = dialectOf(sql)
      const holder = new Holder(sql, dialect, leaseFor, processes)
      const places = new SqlPlaces(sql, dialect, holder, patience)
      holder.keep(places)
      yield* Effect.addFinalizer(() => holder.end)
      yield* Effect.forkScoped(holder.renewals)
      const store = new SqlStore(sql, dialect, holder, options)
      return Context.make(ConversationStore, store).pipe(Context.add(QuotaPlaces, places))
    }),
  )
