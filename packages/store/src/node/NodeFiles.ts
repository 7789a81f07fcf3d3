/**
 * The file system of this machine, for the store. Short calls that are answered from memory, such
 * as `stat` and small writes to the page cache, are synchronous, because they cost less than a
 * callback. Calls that wait for a disk, such as syncing and long writes, are asynchronous.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as FS from "node:fs"
import { dirname } from "node:path"
import { type DirectoryEntry, type FileHandle, type FileStat, FileFault, Files } from "../Files.ts"
import { heldUntilClosed } from "../internal/HeldUntilClosed.ts"
import { makeFolders } from "./MakeFolders.ts"

/** A longer synchronous write would block the process noticeably. */
const maxWriteAtOnce = 256 * 1024

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "UNKNOWN"

const faultOf = (operation: string, path: string) => (error: unknown) =>
  new FileFault({ operation, path, code: codeOf(error) })

const callSync = <A>(operation: string, path: string, run: () => A): Effect.Effect<A, FileFault> =>
  Effect.try({ try: run, catch: faultOf(operation, path) })

const callAsync = <A>(
  operation: string,
  path: string,
  run: (done: (error: Error | null, result?: A) => void) => void,
): Effect.Effect<A, FileFault> =>
  Effect.callback((resume) => {
    run((error, result) =>
      resume(
        error === null ? Effect.succeed(result as A) : Effect.fail(faultOf(operation, path)(error)),
      ),
    )
  })

const kindOf = (entry: { isFile: () => boolean; isDirectory: () => boolean }) =>
  entry.isFile() ? "file" : entry.isDirectory() ? "directory" : "other"

/**
 * Uses numbers, because big integers make the call twice as expensive. An inode number beyond 2^53
 * is rounded and still differs from most others.
 */
const statOf = (stats: FS.Stats): FileStat => ({
  kind: kindOf(stats),
  bytes: stats.size,
  modifiedMs: stats.mtimeMs,
  identity: `${stats.dev}:${stats.ino}`,
})

/** Completes with the first error after all calls have ended, or without one. */
const callAll = (
  operation: string,
  path: string,
  calls: ReadonlyArray<(done: (error: Error | null) => void) => void>,
): Effect.Effect<void, FileFault> =>
  callAsync<void>(operation, path, (done) => {
    let running = calls.length
    let failure: Error | null = null
    for (const call of calls) {
      call((error) => {
        failure ??= error
        if (--running === 0) done(failure)
      })
    }
  })

/** A class: its members are shared, where closures would cost every open file memory. */
class NodeFileHandle implements FileHandle {
  private readonly fd: number
  private readonly path: string

  constructor(fd: number, path: string) {
    this.fd = fd
    this.path = path
  }

  read(offset: number, length: number): Effect.Effect<Uint8Array, FileFault> {
    return callSync("read", this.path, () => {
      const bytes = new Uint8Array(length)
      let read = 0
      while (read < length) {
        const more = FS.readSync(this.fd, bytes, read, length - read, offset + read)
        if (more === 0) break
        read += more
      }
      return bytes.subarray(0, read)
    })
  }

  write(offset: number, bytes: Uint8Array): Effect.Effect<number, FileFault> {
    const { fd, path } = this
    return bytes.length <= maxWriteAtOnce
      ? callSync("write", path, () => FS.writeSync(fd, bytes, 0, bytes.length, offset))
      : callAsync("write", path, (done) => FS.write(fd, bytes, 0, bytes.length, offset, done))
  }

  truncate(bytes: number): Effect.Effect<void, FileFault> {
    return callSync("truncate", this.path, () => FS.ftruncateSync(this.fd, bytes))
  }

  get sync(): Effect.Effect<void, FileFault> {
    return callAsync("sync", this.path, (done) => FS.fdatasync(this.fd, done))
  }

  get syncCreated(): Effect.Effect<void, FileFault> {
    return isWindows
      ? this.sync
      : withDirectory(dirname(this.path), (folder) =>
          callAll("sync", this.path, [
            (done) => FS.fdatasync(this.fd, done),
            (done) => FS.fsync(folder, done),
          ]),
        )
  }

  get stat(): Effect.Effect<FileStat, FileFault> {
    return callSync("stat", this.path, () => statOf(FS.fstatSync(this.fd)))
  }
}

const closeFile = (fd: number): Effect.Effect<void> => Effect.sync(() => FS.closeSync(fd))

/** Opens a regular file, and throws for anything else. */
const openRegular = (path: string, flags: number): number => {
  const fd = FS.openSync(path, flags, 0o600)
  try {
    if (FS.fstatSync(fd).isFile()) return fd
    throw Object.assign(new Error(), { code: "ELOOP" })
  } catch (error) {
    FS.closeSync(fd)
    throw error
  }
}

const openScoped = (
  operation: string,
  path: string,
  flags: number,
): Effect.Effect<FileHandle, FileFault, Scope.Scope> =>
  heldUntilClosed(
    callSync(operation, path, () => openRegular(path, flags)),
    closeFile,
  ).pipe(Effect.map((fd) => new NodeFileHandle(fd, path)))

/** Flags that a platform does not have are undefined, which counts as 0. */
const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } =
  FS.constants

/** Windows cannot sync a directory and does not need it. */
const isWindows = process.platform === "win32"

const withDirectory = <A>(
  path: string,
  use: (fd: number) => Effect.Effect<A, FileFault>,
): Effect.Effect<A, FileFault> =>
  Effect.acquireUseRelease(
    callSync("syncDirectory", path, () => FS.openSync(path, O_RDONLY)),
    use,
    (fd) => Effect.sync(() => FS.closeSync(fd)),
  )

const syncDirectory = (path: string): Effect.Effect<void, FileFault> =>
  isWindows
    ? Effect.void
    : withDirectory(path, (fd) =>
        callAsync<void>("syncDirectory", path, (done) => FS.fsync(fd, done)),
      )

/** Syncs each new folder into its parent. */
const makeDirectory = Effect.fnUntraced(function* (
  path: string,
): Effect.fn.Return<void, FileFault> {
  const first = yield* callSync("makeDirectory", path, () => makeFolders(path, 0o700))
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) {
    yield* syncDirectory(dirname(made))
  }
})

const list = (path: string): Effect.Effect<ReadonlyArray<DirectoryEntry>, FileFault> =>
  callSync("list", path, () =>
    FS.readdirSync(path, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: kindOf(entry),
    })),
  )

/**
 * Fails instead of replacing a file. The check and the renaming need not be atomic, because only
 * the holder of a conversation's lease renames its file.
 */
const rename = (from: string, to: string): Effect.Effect<void, FileFault> =>
  callSync("rename", from, () => {
    // Any other error of `lstat` is thrown, because something may exist at the path.
    if (FS.lstatSync(to, { throwIfNoEntry: false }) !== undefined) {
      throw Object.assign(new Error(), { code: "EEXIST" })
    }
    FS.renameSync(from, to)
  })

const append = (path: string, bytes: Uint8Array): Effect.Effect<void, FileFault> =>
  heldUntilClosed(
    callSync("append", path, () =>
      openRegular(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK),
    ),
    closeFile,
  ).pipe(
    Effect.flatMap((fd) =>
      callSync("append", path, () => {
        if (FS.writeSync(fd, bytes) !== bytes.length) {
          throw Object.assign(new Error(), { code: "ENOSPC" })
        }
        return new NodeFileHandle(fd, path)
      }),
    ),
    Effect.flatMap((handle) => handle.syncCreated),
    Effect.scoped,
  )

const files: Files["Service"] = {
  open: (path, mode) =>
    openScoped("open", path, (mode === "read" ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_NONBLOCK),
  create: (path) => openScoped("create", path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW),
  makeDirectory,
  syncDirectory,
  list,
  stat: (path) => callSync("stat", path, () => statOf(FS.lstatSync(path))),
  realPath: (path) => callSync("realPath", path, () => FS.realpathSync.native(path)),
  rename,
  append,
  remove: (path) => callSync("remove", path, () => FS.unlinkSync(path)),
}

/** Layer with the file system of this machine. */
export const layer = Layer.succeed(Files, files)
