/** Node's SQLite module, loaded on first use without writing a warning to stderr. */
import * as Effect from "effect/Effect"
import type { DatabaseSync } from "node:sqlite"

type Sqlite = typeof import("node:sqlite")

/** Loads a module and suppresses the warning of older Node releases that SQLite is experimental. */
const withoutWarning = async <A>(load: () => Promise<A>): Promise<A> => {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = (...args: ReadonlyArray<unknown>) => {
    if (args[1] === "ExperimentalWarning" && String(args[0]).includes("SQLite")) return
    Reflect.apply(emitWarning, undefined, args)
  }
  try {
    return await load()
  } finally {
    process.emitWarning = emitWarning
  }
}

/** The module `node:sqlite`. Loading it cannot fail in the Node versions that `engines` permits. */
export const sqlite: Effect.Effect<Sqlite> = Effect.promise(() =>
  withoutWarning(() => import("node:sqlite")),
)

/** SQLite's primary error code of an error; 0 for any other value. */
export const sqliteCode = (error: unknown): number =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : 0

/** SQLite's error code when another process holds the lock. */
export const sqliteBusy = 5

/** True when the file is not a database, is corrupt, or has other tables than expected. */
export const isDamage = (error: unknown): boolean => {
  const code = sqliteCode(error)
  // 11: corrupt. 26: not a database. 1: a table is missing or has other columns.
  return code === 11 || code === 26 || code === 1
}

/** Closes a database. Never throws. */
export const closeQuietly = (database: DatabaseSync): void => {
  try {
    database.close()
  } catch {
    // Already closed, or never opened: there is nothing to release.
  }
}
