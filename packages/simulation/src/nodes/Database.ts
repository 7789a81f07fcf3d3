/**
 * The server of the simulated database, which all nodes share. Sessions run statements and transactions; a transaction
 * excludes all others, as in SQLite. A session that ends, or that is silent within a transaction, is rolled back. It calls
 * back and forks no fiber: nothing of it depends on a node.
 */
import type * as Scheduler from "effect/Scheduler"
import { classifySqliteError, ConnectionError, SqlError } from "effect/sql/SqlError"
import type { Ground } from "./Machine.ts"
import { type Row, SqliteDatabase } from "./SqliteDatabase.ts"

/** The result of a statement. */
export type Result =
  | { readonly is: "rows"; readonly rows: ReadonlyArray<Row> }
  | { readonly is: "error"; readonly error: SqlError }

/** The error of a statement whose session ended while it ran. */
export const connectionLost = (operation: "connect" | "execute"): SqlError =>
  new SqlError({
    reason: new ConnectionError({ cause: undefined, message: "the connection is lost", operation }),
  })

/** Rows that a transaction adds to one log. */
export interface Write {
  readonly log: number
  readonly generation: number
  /** Time at which the transaction began to hold the database. */
  readonly sinceMs: number
}

/** A session of a client. */
export interface Session {
  /** Name of the process that has it. */
  readonly process: string
  isOpen: boolean
  /** What the open transaction has written so far. */
  writes: Array<Write>
  sinceMs: number
}

interface Waiting {
  readonly session: Session
  readonly begin: () => void
}

/**
 * How long a session may be silent within a transaction. PostgreSQL waits longer, and locks single rows; here a transaction
 * locks all, so that a longer wait would stop every node.
 */
const silentMs = 1_500

/** What sees the statements of all sessions. */
export interface Witness {
  /** A statement of the session was carried out. */
  readonly carriedOut: (session: Session, sql: string, rows: ReadonlyArray<Row>) => void
  /** A transaction of the session was committed. */
  readonly committed: (session: Session) => void
}

/** The database and its sessions. */
export class Database {
  readonly sqlite: SqliteDatabase
  private readonly ground: Ground
  private readonly dispatcher: Scheduler.SchedulerDispatcher
  private readonly sessions = new Set<Session>()
  private readonly witness: Witness
  private owner: Session | undefined
  private waiting: Array<Waiting> = []
  private cancelSilence = () => {}
  private isUp = true

  constructor(ground: Ground, witness: (sqlite: SqliteDatabase) => Witness) {
    this.ground = ground
    this.dispatcher = ground.scheduler.makeDispatcher()
    this.sqlite = new SqliteDatabase(() => ground.clock.currentTimeMillisUnsafe())
    this.witness = witness(this.sqlite)
  }

  /** True unless the database is down. */
  get accepts(): boolean {
    return this.isUp
  }

  /** A new session; undefined while the database is down. */
  connect(process: string): Session | undefined {
    if (!this.isUp) return undefined
    const session: Session = { process, isOpen: true, writes: [], sinceMs: 0 }
    this.sessions.add(session)
    return session
  }

  /** Runs a statement, once no other session has a transaction, and calls `done`. */
  execute(
    session: Session,
    sql: string,
    params: ReadonlyArray<unknown>,
    done: (result: Result) => void,
  ): void {
    const begin = () =>
      done(
        session.isOpen
          ? this.run(session, sql, params)
          : { is: "error", error: connectionLost("execute") },
      )
    if (!session.isOpen || this.owner === undefined || this.owner === session) begin()
    else this.waiting.push({ session, begin })
  }

  /** Ends a session, and rolls its transaction back. */
  end(session: Session): void {
    session.isOpen = false
    this.sessions.delete(session)
    const [own, others] = [true, false].map((is) =>
      this.waiting.filter((one) => (one.session === session) === is),
    )
    this.waiting = others ?? []
    for (const { begin } of own ?? []) begin()
    if (this.owner !== session) return
    if (this.sqlite.isTransaction) this.sqlite.run("ROLLBACK")
    this.release()
  }

  /** Ends the sessions of a process that has ended. */
  endAll(process: string): void {
    for (const session of this.sessions) if (session.process === process) this.end(session)
  }

  /** Ends all sessions, and refuses new ones. */
  goDown(): void {
    this.isUp = false
    for (const session of this.sessions) this.end(session)
  }

  /** Accepts sessions again. */
  comeUp(): void {
    this.isUp = true
  }

  private run(session: Session, sql: string, params: ReadonlyArray<unknown>): Result {
    try {
      const rows = this.sqlite.run(sql, params)
      this.note(session, sql, params)
      this.witness.carriedOut(session, sql, rows)
      if (this.sqlite.isTransaction) this.take(session)
      else if (this.owner === session) {
        if (sql === "COMMIT") this.witness.committed(session)
        this.release()
      }
      return { is: "rows", rows }
    } catch (cause) {
      const reason = classifySqliteError(cause, { operation: "execute" })
      return { is: "error", error: new SqlError({ reason }) }
    }
  }

  /** Notes which log the statement adds a record to: `log` is the first of its columns, `generation` the fifth. */
  private note(session: Session, sql: string, params: ReadonlyArray<unknown>): void {
    if (!sql.startsWith("INSERT INTO colloquy_records")) return
    const { sinceMs } = session
    session.writes.push({ log: Number(params[0]), generation: Number(params[4]), sinceMs })
  }

  private take(session: Session): void {
    if (this.owner !== session) {
      session.sinceMs = this.ground.clock.currentTimeMillisUnsafe()
      session.writes = []
    }
    this.owner = session
    this.cancelSilence()
    this.cancelSilence = this.ground.clock.timer(silentMs, () => this.end(session))
  }

  private release(): void {
    this.cancelSilence()
    this.owner = undefined
    const { waiting } = this
    this.waiting = []
    for (const { begin, session } of waiting) {
      this.dispatcher.scheduleTask(() => {
        if (!session.isOpen || this.owner === undefined || this.owner === session) begin()
        else this.waiting.push({ session, begin })
      }, 0)
    }
  }
}
