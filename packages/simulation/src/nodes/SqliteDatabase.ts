/**
 * An SQLite database in memory whose clock and random numbers are those of a simulation: the same statements at the same
 * times give the same rows (L12). It knows no table. The only module of the simulated nodes that touches the platform.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"

/** One row, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>

/** An SQLite database in memory, with one connection. */
export class SqliteDatabase {
  private readonly database = new DatabaseSync(":memory:")
  private readonly prepared = new Map<string, StatementSync>()
  private tokens = 0

  /** @param nowMs the time in milliseconds that the functions of SQLite see */
  constructor(nowMs: () => number) {
    // Only a function with as many parameters takes the place of the one of SQLite.
    this.database.function("unixepoch", (_unit) => nowMs() / 1000)
    this.database.function("randomblob", (size) => {
      const bytes = new Uint8Array(Number(size))
      new DataView(bytes.buffer).setUint32(0, ++this.tokens)
      return bytes
    })
  }

  /** Runs a statement and returns its rows. Throws the error of SQLite. */
  run(sql: string, params: ReadonlyArray<unknown> = []): ReadonlyArray<Row> {
    return this.statement(sql).all(...(params as ReadonlyArray<SQLInputValue>))
  }

  /** True while a transaction is open. */
  get isTransaction(): boolean {
    return this.database.isTransaction
  }

  /** Frees the memory. */
  close(): void {
    this.database.close()
  }

  private statement(sql: string): StatementSync {
    const known = this.prepared.get(sql)
    if (known !== undefined) return known
    const statement = this.database.prepare(sql)
    this.prepared.set(sql, statement)
    return statement
  }
}
