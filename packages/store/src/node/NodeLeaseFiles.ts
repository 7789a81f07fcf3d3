/**
 * The file system of this machine for leases. A lock is one of `node:sqlite` on an empty file: Node itself has none.
 *
 * One lock per process, not per conversation: a file with `BEGIN EXCLUSIVE` costs 150 KiB and a descriptor (measured),
 * and a process has thousands of conversations open.
 */
import * as FS from "node:fs"
import { dirname } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { FileFault } from "../Files.ts"
import type { LeaseFiles, LockFile } from "../leases/LeaseFiles.ts"
import { makeFolders } from "./MakeFolders.ts"
import { sqliteBusy, closeQuietly, sqliteCode } from "./Sqlite.ts"

/** SQLite's own names of its reasons, where they have one of the system's. */
const codes: Readonly<Record<number, string>> = {
  7: "ENOMEM",
  8: "EACCES",
  10: "EIO",
  13: "ENOSPC",
}

/** Cannot be opened: a permission, or no descriptor is left; SQLite does not say which. */
const cannotOpen = 14

/**
 * Finds out what keeps a file from being opened. Never opens the file itself: closing it would release the locks that this
 * process has on it.
 */
const openFailureCode = (path: string): string => {
  const folder = dirname(path)
  try {
    FS.accessSync(FS.existsSync(path) ? path : folder, FS.constants.R_OK | FS.constants.W_OK)
    FS.closeSync(FS.openSync(folder, FS.constants.O_RDONLY))
    // Nothing keeps it any more.
    return "EAGAIN"
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "UNKNOWN"
  }
}

const codeOf = (path: string, error: unknown): string => {
  const code = sqliteCode(error)
  if (code === cannotOpen) return openFailureCode(path)
  if (code !== 0) return codes[code] ?? `SQLITE_${code}`
  return error instanceof Error && "code" in error ? String(error.code) : "UNKNOWN"
}

const attempt = <A>(operation: string, path: string, run: () => A): A => {
  try {
    return run()
  } catch (error) {
    throw new FileFault({ operation, path, code: codeOf(path, error) })
  }
}

/** The file stays empty for ever; a journal beside it would outlive a process that is killed. */
const lock = "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"

const lockOf = (path: string, database: DatabaseSync): LockFile => ({
  acquire: () => {
    try {
      database.exec(lock)
      return true
    } catch (error) {
      if (sqliteCode(error) === sqliteBusy) return false
      throw new FileFault({ operation: "lock", path, code: codeOf(path, error) })
    }
  },
  release: () => attempt("unlock", path, () => database.exec("ROLLBACK")),
  close: () => closeQuietly(database),
})

export const make = (Sqlite: typeof DatabaseSync): LeaseFiles => ({
  makeFolder: (path) => {
    attempt("makeDirectory", path, () => makeFolders(path, 0o700))
  },
  list: (path) => attempt("list", path, () => FS.readdirSync(path)),
  stat: (path) => {
    attempt("stat", path, () => FS.lstatSync(path))
  },
  read: (path) => attempt("read", path, () => FS.readFileSync(path, "utf8")),
  write: (path, text) =>
    attempt("write", path, () => FS.writeFileSync(path, text, { mode: 0o600 })),
  rename: (from, to) => attempt("rename", from, () => FS.renameSync(from, to)),
  remove: (path) => attempt("remove", path, () => FS.unlinkSync(path)),
  lockFile: (path) => attempt("lock", path, () => lockOf(path, new Sqlite(path, { timeout: 0 }))),
})
