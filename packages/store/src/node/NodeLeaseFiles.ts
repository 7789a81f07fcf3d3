/**
 * The file system of this machine, for leases. A lock is a `node:sqlite` transaction on an empty
 * file, because Node itself has no file locks.
 *
 * A process holds one lock and not one per conversation: a file with `BEGIN EXCLUSIVE` costs 150
 * KiB and a descriptor (measured), and a process may have thousands of conversations open.
 */
import * as FS from "node:fs"
import { dirname } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { FileFault } from "../Files.ts"
import type { FileStamp, LeaseFiles, LockFile } from "../leases/LeaseFiles.ts"
import { makeFolders } from "./MakeFolders.ts"
import { sqliteBusy, closeQuietly, sqliteCode } from "./Sqlite.ts"

/** System error codes for the error codes of SQLite that have one. */
const codes: Readonly<Record<number, string>> = {
  7: "ENOMEM",
  8: "EACCES",
  10: "EIO",
  13: "ENOSPC",
}

/**
 * SQLite's code for "cannot open". The reason is a permission or a missing descriptor; SQLite does
 * not say which.
 */
const cannotOpen = 14

/**
 * Determines why a file cannot be opened. Never opens the file itself, because closing it would
 * release the locks that this process holds on it.
 */
const openFailureCode = (path: string): string => {
  const folder = dirname(path)
  try {
    FS.accessSync(FS.existsSync(path) ? path : folder, FS.constants.R_OK | FS.constants.W_OK)
    FS.closeSync(FS.openSync(folder, FS.constants.O_RDONLY))
    // The reason is gone; trying again may succeed.
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

/**
 * The lock file stays empty. A journal file would remain when the process is killed, so the journal
 * is kept in memory.
 */
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

const { O_CREAT, O_EXCL, O_TRUNC, O_WRONLY } = FS.constants

const stampOf = ({ dev, ino, mtimeMs, size }: FS.Stats): FileStamp =>
  `${dev}:${ino}:${size}:${mtimeMs}`

/** The stamp is that of the open file, since another file may be at the path a moment later. */
const writeFile = (path: string, text: string, flags: number): FileStamp => {
  const fd = FS.openSync(path, flags | O_WRONLY | O_CREAT, 0o600)
  try {
    FS.writeFileSync(fd, text)
    return stampOf(FS.fstatSync(fd))
  } finally {
    FS.closeSync(fd)
  }
}

/** Creates the lease files over SQLite's database class. */
export const make = (Sqlite: typeof DatabaseSync): LeaseFiles => ({
  makeFolder: (path) => {
    attempt("makeDirectory", path, () => makeFolders(path, 0o700))
  },
  list: (path) => attempt("list", path, () => FS.readdirSync(path)),
  stat: (path) => attempt("stat", path, () => stampOf(FS.lstatSync(path))),
  read: (path) => attempt("read", path, () => FS.readFileSync(path, "utf8")),
  write: (path, text) => attempt("write", path, () => writeFile(path, text, O_TRUNC)),
  create: (path, text) => attempt("create", path, () => writeFile(path, text, O_EXCL)),
  link: (from, to) => attempt("link", to, () => FS.linkSync(from, to)),
  rename: (from, to) => attempt("rename", from, () => FS.renameSync(from, to)),
  remove: (path) => attempt("remove", path, () => FS.unlinkSync(path)),
  lockFile: (path) => attempt("lock", path, () => lockOf(path, new Sqlite(path, { timeout: 0 }))),
})
