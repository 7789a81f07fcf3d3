/** Node's own SQLite, loaded when it is first needed; nothing of it goes to stderr. */
import * as Effect from "effect/Effect"
import type { DatabaseSync } from "node:sqlite"

type Sqlite = typeof import("node:sqlite")

/** Older releases of Node warn that it is experimental, when it is loaded. */
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

/** Loading a module of Node's own does not fail where there is one, which `engines` says. */
export const sqlite: Effect.Effect<Sqlite> = Effect.promise(() =>
  withoutWarning(() => import("node:sqlite")),
)

/** SQLite's own code of an error; 0 for anything else. */
export const sqliteCode = (error: unknown): number =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : 0

/** Somebody else has it locked. */
export const sqliteBusy = 5

/** What it holds is no database, or not the one it was. */
export const isDamage = (error: unknown): boolean => {
  const code = sqliteCode(error)
  // 11 corrupt, 26 no database, 1 a table that is not there or has other columns
  return code === 11 || code === 26 || code === 1
}

export const closeQuietly = (database: DatabaseSync): void => {
  try {
    database.close()
  } catch {
    // Closed already, or never open: there is nothing left to give back.
  }
}
