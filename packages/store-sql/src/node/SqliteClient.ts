/**
 * SQLite as a client of `effect/sql`, over the SQLite of Node. One connection; a transaction excludes every other
 * statement of the process. A commit is synced before it resolves. It knows no table.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlConnection from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"

/**
 * How long a statement waits for another process, in milliseconds. The event loop waits as long, and transactions of the
 * store take some milliseconds; longer waits are retries of the caller.
 */
const busyMs = 500

/** The statements of the store are fewer; the others are not worth more memory. */
const maxPrepared = 200

const attempt = <A>(operation: string, run: () => A): Effect.Effect<A, SqlError> =>
  Effect.try({
    try: run,
    catch: (cause) =>
      new SqlError({
        reason: classifySqliteError(cause, {
          operation,
          message: cause instanceof Error ? cause.message : String(cause),
        }),
      }),
  })

class Connection implements SqlConnection.Connection {
  private readonly prepared = new Map<string, StatementSync>()
  readonly database: DatabaseSync

  constructor(database: DatabaseSync) {
    this.database = database
  }

  execute(
    sql: string,
    params: ReadonlyArray<unknown>,
    transformRows: (<A extends object>(row: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined,
  ): Effect.Effect<ReadonlyArray<object>, SqlError> {
    return attempt("execute", () => {
      const rows = this.all(this.statement(sql), params)
      return transformRows === undefined ? rows : transformRows(rows)
    })
  }

  executeRaw(sql: string, params: ReadonlyArray<unknown>): Effect.Effect<unknown, SqlError> {
    return this.execute(sql, params, undefined)
  }

  executeStream(sql: string, params: ReadonlyArray<unknown>): Stream.Stream<object, SqlError> {
    return Stream.unwrap(
      Effect.map(this.execute(sql, params, undefined), (rows) => Stream.fromIterable(rows)),
    )
  }

  executeValues(
    sql: string,
    params: ReadonlyArray<unknown>,
  ): Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError> {
    return Effect.map(this.execute(sql, params, undefined), (rows) =>
      rows.map((row): ReadonlyArray<unknown> => Object.values(row)),
    )
  }

  executeValuesUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    return this.executeValues(sql, params)
  }

  executeUnprepared(
    sql: string,
    params: ReadonlyArray<unknown>,
    transformRows: (<A extends object>(row: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined,
  ) {
    return this.execute(sql, params, transformRows)
  }

  private all(statement: StatementSync, params: ReadonlyArray<unknown>): ReadonlyArray<object> {
    // SQLite refuses a value that it cannot store.
    return statement.all(...(params as ReadonlyArray<SQLInputValue>))
  }

  private statement(sql: string): StatementSync {
    const known = this.prepared.get(sql)
    if (known !== undefined) return known
    const statement = this.database.prepare(sql)
    if (this.prepared.size >= maxPrepared) this.prepared.clear()
    this.prepared.set(sql, statement)
    return statement
  }
}

/** How often a file is opened that another process is writing, `busyMs` each time. */
const maxOpens = 10

const isBusy = ({ reason: { cause } }: SqlError): boolean =>
  cause instanceof Error && "errcode" in cause && cause.errcode === 5

const openDatabase = (filename: string): DatabaseSync => {
  const database = new DatabaseSync(filename, { timeout: busyMs })
  // The journal that lets readers read during a write; each commit is synced.
  database.exec("PRAGMA journal_mode = WAL")
  database.exec("PRAGMA synchronous = FULL")
  return database
}

/**
 * Hands the connection from one fiber to the next in the order in which they asked. A semaphore would let a fiber that
 * writes without a pause take it again before the others have it.
 */
class Turns {
  private readonly waiting: Array<() => void> = []
  private isTaken = false

  /** Resolves with the connection. Not interruptible: a turn lasts some milliseconds. */
  readonly take: Effect.Effect<void> = Effect.uninterruptible(
    Effect.callback<void>((resume) => {
      const begin = () => resume(Effect.void)
      if (this.isTaken) this.waiting.push(begin)
      else {
        this.isTaken = true
        begin()
      }
    }),
  )

  readonly release: Effect.Effect<void> = Effect.sync(() => {
    const next = this.waiting.shift()
    if (next === undefined) this.isTaken = false
    else next()
  })
}

const make = Effect.fnUntraced(function* (filename: string) {
  const database = yield* Effect.acquireRelease(
    Effect.retry(
      attempt("open", () => openDatabase(filename)),
      { times: maxOpens, while: isBusy },
    ),
    (opened) => Effect.sync(() => opened.close()),
  )
  const connection = new Connection(database)
  const turns = new Turns()
  const acquirer = Effect.uninterruptible(
    Effect.flatMap(Effect.scope, (scope) =>
      Effect.andThen(turns.take, Effect.as(Scope.addFinalizer(scope, turns.release), connection)),
    ),
  )
  return yield* SqlClient.make({
    acquirer,
    borrower: (use) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.andThen(turns.take, Effect.ensuring(restore(use(connection)), turns.release)),
      ),
    compiler: Statement.makeCompilerSqlite(),
    driver: "sqlite-node",
    beginTransaction: "BEGIN IMMEDIATE",
    isTransaction: () => database.isTransaction,
    onCommitFailure: (failed) => Effect.asVoid(failed.executeUnprepared("ROLLBACK", [], undefined)),
    spanAttributes: [["db.system.name", "sqlite"]],
  })
})

/**
 * Layer of the client. The file is created if there is none, and closed with the layer.
 *
 * @param filename path of the file, or `:memory:`
 */
export const layer = (filename: string): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(filename)).pipe(Layer.provide(Reactivity.layer))
