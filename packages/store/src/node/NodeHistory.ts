/**
 * `history.jsonl` on this machine. An entry is one `O_APPEND` write, which the operating system
 * does not interleave with writes of other processes, including those of the original program. The
 * lock, which the processes of this program share, is a lock of `node:sqlite`.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as FS from "node:fs"
import { dirname, join } from "node:path"
import { FileFault } from "../Files.ts"
import {
  HistoryFile,
  type HistoryLog,
  MessageHistory,
  type HistoryOptions,
} from "../MessageHistory.ts"
import { makeFolders } from "./MakeFolders.ts"
import { sqliteBusy, closeQuietly, sqlite, sqliteCode } from "./Sqlite.ts"

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "UNKNOWN"

const attempt = <A>(operation: string, path: string, run: () => A) =>
  Effect.try({
    try: run,
    catch: (error) => new FileFault({ operation, path, code: codeOf(error) }),
  })

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = FS.constants

/** Opens a regular file and nothing else. Never waits for the other end of a pipe. */
const openFile = (path: string, flags: number): number => {
  const fd = FS.openSync(path, flags | O_NOFOLLOW | (O_NONBLOCK ?? 0), 0o600)
  if (FS.fstatSync(fd).isFile()) return fd
  FS.closeSync(fd)
  throw Object.assign(new Error(), { code: "EINVAL" })
}

const newline = 0x0a

/** True when the last line of a file has no end, because its writer ended or the disk was full. */
const endsWithinLine = (fd: number): boolean => {
  const { size } = FS.fstatSync(fd)
  if (size === 0) return false
  const last = new Uint8Array(1)
  FS.readSync(fd, last, 0, 1, size - 1)
  return last[0] !== newline
}

const onNewLine = (entry: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(entry.length + 1)
  bytes[0] = newline
  bytes.set(entry, 1)
  return bytes
}

const write = (path: string, entry: Uint8Array): void => {
  const fd = openFile(path, O_RDWR | O_APPEND | O_CREAT)
  try {
    // Another program may have created the file readable for everyone.
    FS.fchmodSync(fd, 0o600)
    const bytes = endsWithinLine(fd) ? onNewLine(entry) : entry
    if (FS.writeSync(fd, bytes) !== bytes.length) {
      throw Object.assign(new Error(), { code: "ENOSPC" })
    }
  } finally {
    FS.closeSync(fd)
  }
}

const logOf = (fd: number, path: string): HistoryLog => {
  const { ino, size } = FS.fstatSync(fd)
  return {
    logId: process.platform === "win32" ? 0 : ino,
    bytes: size,
    read: (offset, length) =>
      attempt("read", path, () => {
        const bytes = new Uint8Array(length)
        return bytes.subarray(0, FS.readSync(fd, bytes, 0, length, offset))
      }),
  }
}

const fileAt = (path: string, lockPath: string): HistoryFile["Service"] => ({
  append: (bytes) =>
    Effect.flatMap(sqlite, ({ DatabaseSync }) =>
      attempt("append", path, () => {
        makeFolders(dirname(lockPath), 0o700)
        const lock = new DatabaseSync(lockPath, { timeout: 0 })
        try {
          lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
          write(path, bytes)
          return true
        } catch (error) {
          if (sqliteCode(error) === sqliteBusy) return false
          throw error
        } finally {
          closeQuietly(lock)
        }
      }),
    ),
  open: Effect.acquireRelease(
    attempt("open", path, () => {
      try {
        return openFile(path, O_RDONLY)
      } catch (error) {
        if (codeOf(error) === "ENOENT") return undefined
        throw error
      }
    }),
    (fd) => Effect.sync(() => fd !== undefined && FS.closeSync(fd)),
  ).pipe(
    Effect.flatMap((fd) =>
      fd === undefined ? Effect.undefined : attempt("stat", path, () => logOf(fd, path)),
    ),
  ),
})

/**
 * Layer of the message history in the state directory.
 *
 * @param home the state directory, absolute
 */
export const layer = (
  home: string,
  options: HistoryOptions = { persistence: "save-all" },
): Layer.Layer<MessageHistory> =>
  MessageHistory.layer(options).pipe(
    Layer.provide(
      Layer.succeed(
        HistoryFile,
        fileAt(join(home, "history.jsonl"), join(home, "colloquy-store", "history.lock")),
      ),
    ),
  )
