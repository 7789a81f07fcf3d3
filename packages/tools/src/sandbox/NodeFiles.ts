/**
 * File system operations that the sandbox and the readers of files need beyond `effect/FileSystem`, and the PATH of
 * this process: a platform edge over Node. `effect/FileSystem` removes directories either with all their content or not
 * at all, and a process per directory would cost a command as much as a third of bubblewrap. Its `realPath` asks once
 * for each part of a path where the system can do it in one call. Its `open` has no flags that keep a named pipe or a
 * terminal from blocking. It creates no directory relative to an open one.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { BigIntStats } from "node:fs"
import { closeSync, constants, lstatSync, mkdirSync, openSync, readFileSync } from "node:fs"
import { readlinkSync, rmdirSync } from "node:fs"
import * as FS from "node:fs/promises"
import type { PathCalls, PathLook } from "./PathFacts.ts"

/** The path without links; undefined when it cannot be determined, because nothing is there or for any other reason. */
export const realPath = (path: string): Effect.Effect<string | undefined> =>
  Effect.promise(() => FS.realpath(path).catch(() => undefined))

/**
 * Removes an empty directory. Leaves anything else alone: what has content, is no directory, or may not be removed.
 * Does not follow a link in the last part. Synchronous, because the directories were just created on a file system that
 * responds, and waiting for a thread would cost a command more than the call.
 */
const removeIfEmpty = (directory: string): void => {
  try {
    rmdirSync(directory)
  } catch {
    // It stays: others use it, or a person does now.
  }
}

/** A directory could not be created; nothing of it is left. */
export class DirectoryNotMade extends Data.TaggedError("DirectoryNotMade")<{
  /** True when another process created or removed the same directory meanwhile: the caller may retry. */
  readonly isConcurrent: boolean
  readonly message: string
}> {}

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : String(cause)

const openDirectory = (path: string): number =>
  openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)

/** A path below this one is resolved from the open directory, wherever that lies by now. Linux only. */
const pathOfOpen = (descriptor: number): string => `/proc/self/fd/${descriptor}`

const requireAt = (descriptor: number, expected: string): void => {
  const actual = readlinkSync(pathOfOpen(descriptor))
  if (actual !== expected) throw new Error(`${expected} was replaced: it is ${actual}`)
}

const makeUnlessPresent = (directory: string): boolean => {
  try {
    mkdirSync(directory)
    return true
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return false
    throw cause
  }
}

/** The steps of `makeMarked`; throws their errors. */
const makeMarkedNow = (directory: string, marker: string): (() => void) => {
  const end = directory.lastIndexOf("/")
  const parentPath = directory.slice(0, end) || "/"
  const parent = openDirectory(parentPath)
  const undo: Array<() => void> = [() => closeSync(parent)]
  const undoAll = () => {
    for (const step of undo.toReversed()) step()
  }
  try {
    requireAt(parent, parentPath)
    const place = `${pathOfOpen(parent)}/${directory.slice(end + 1)}`
    const isMade = makeUnlessPresent(place)
    undo.push(() => removeIfEmpty(place))
    const held = openDirectory(place)
    undo.push(() => closeSync(held))
    // When another process has moved the new directory, only the kernel knows its path.
    if (isMade) undo.push(() => removeIfEmpty(readlinkSync(pathOfOpen(held))))
    mkdirSync(`${pathOfOpen(held)}/${marker}`)
    undo.push(() => removeIfEmpty(`${pathOfOpen(held)}/${marker}`))
    requireAt(held, directory)
    return undoAll
  } catch (cause) {
    undoAll()
    throw cause
  }
}

/**
 * Creates the directory unless it exists, and the directory `marker` in it. Returns an effect that removes both, each
 * only if it is empty. Nothing is created unless the opened parent is the one that `directory` names without links, and
 * nothing is left when `directory` names another one afterwards: each step starts from the open directory, so that a
 * path which is replaced by a link meanwhile has no effect. Synchronous, for the same reason as `removeIfEmpty`.
 */
export const makeMarked = (
  directory: string,
  marker: string,
): Effect.Effect<Effect.Effect<void>, DirectoryNotMade> =>
  Effect.try({
    try: () => Effect.sync(makeMarkedNow(directory, marker)),
    catch: (cause) =>
      new DirectoryNotMade({
        isConcurrent: ["EEXIST", "ENOENT"].includes(codeOf(cause)),
        message: cause instanceof Error ? cause.message : String(cause),
      }),
  })

/**
 * Calls a library with the PATH of this process reduced to the directories of the system, and restores it. For a
 * library that starts programs by name during the call and accepts no environment.
 */
export const withSystemPath = <A>(call: () => A): A => {
  const { PATH } = process.env
  process.env["PATH"] = "/usr/bin:/bin:/usr/sbin:/sbin"
  try {
    return call()
  } finally {
    if (PATH === undefined) delete process.env["PATH"]
    else process.env["PATH"] = PATH
  }
}

/** What identifies a file, whatever its name. */
export interface Identity {
  readonly device: bigint
  readonly inode: bigint
  /** Number of names (hard links) of the file. */
  readonly links: bigint
}

const identityIn = (stats: {
  readonly dev: bigint
  readonly ino: bigint
  readonly nlink: bigint
}) => ({ device: stats.dev, inode: stats.ino, links: stats.nlink }) satisfies Identity

/** True when both are the same file. */
export const isSameFile = (a: Identity, b: Identity): boolean =>
  a.device === b.device && a.inode === b.inode

/** An entry of a directory. */
export interface FoundEntry {
  /** Absolute. */
  readonly path: string
  readonly type: "File" | "Link" | "Other"
  readonly identity: Identity
}

/** The entry itself, a link not followed; undefined when nothing is there or it cannot be examined. */
export const lookAt = (path: string): Effect.Effect<FoundEntry | undefined> =>
  Effect.promise(() =>
    FS.lstat(path, { bigint: true }).then(
      (stats) => ({
        path,
        type: stats.isFile() ? "File" : stats.isSymbolicLink() ? "Link" : "Other",
        identity: identityIn(stats),
      }),
      () => undefined,
    ),
  )

/** True when the file has a name at or below `place`, which is searched completely without following links. */
export const hasNameIn = (
  place: string,
  file: Identity,
  isSearched: (path: string) => boolean,
): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    const open = [place]
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (!isSearched(path)) continue
      const stats = await FS.lstat(path, { bigint: true }).catch(() => undefined)
      if (stats === undefined) continue
      if (stats.isFile() && isSameFile(identityIn(stats), file)) return true
      const directory = path
      const names = stats.isDirectory() ? await FS.readdir(path).catch(() => []) : []
      open.push(...names.map((name) => `${directory}/${name}`))
    }
    return false
  })

/** A file could not be opened. `Special`: neither a file nor a directory. `Changed`: replaced while it was opened. */
export class FileNotOpened extends Data.TaggedError("FileNotOpened")<{
  readonly reason: "Changed" | "Denied" | "Directory" | "Missing" | "Other" | "Special"
  readonly message: string
  /** Why a hidden file is hidden. For the log and no model: it names hidden paths. */
  readonly why?: string
}> {}

/** An open regular file. */
export interface OpenedFile {
  /** Path of the opened file, without links. */
  readonly real: string
  readonly identity: Identity
  /** In bytes. */
  readonly size: number
  /** Permission bits and type, as in `st_mode`. */
  readonly mode: number
  /** Reads the first `maxBytes` of it. */
  readonly read: (maxBytes: number) => Effect.Effect<Uint8Array, FileNotOpened>
}

const reasons: Readonly<Record<string, FileNotOpened["reason"]>> = {
  EACCES: "Denied",
  EISDIR: "Directory",
  ENOENT: "Missing",
  // The system's errors for opening a socket, or a pipe or device without another end.
  ENXIO: "Special",
  ENODEV: "Special",
  EPERM: "Denied",
}

const notOpened = (path: string) => (cause: unknown) => {
  const code = codeOf(cause)
  return new FileNotOpened({ reason: reasons[code] ?? "Other", message: `${code}: ${path}` })
}

const refuse = (reason: FileNotOpened["reason"], message: string) =>
  Effect.fail(new FileNotOpened({ reason, message }))

const readHead = async (handle: FS.FileHandle, maxBytes: number): Promise<Uint8Array> => {
  const { size } = await handle.stat()
  const bytes = new Uint8Array(Math.min(size, maxBytes))
  let at = 0
  while (at < bytes.length) {
    const { bytesRead } = await handle.read(bytes, at, bytes.length - at, at)
    if (bytesRead === 0) break
    at += bytesRead
  }
  return bytes.subarray(0, at)
}

/**
 * Opens a regular file for reading until the scope closes; follows links. `real` is the path of the very file that was
 * opened: when the path is redirected meanwhile this fails as `Changed`, so that what is checked by `real` is what is
 * read.
 */
export const openRegular = Effect.fnUntraced(function* (
  path: string,
): Effect.fn.Return<OpenedFile, FileNotOpened, Scope.Scope> {
  const failed = notOpened(path)
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)
  const handle = yield* Effect.acquireRelease(
    Effect.tryPromise({ try: () => FS.open(path, flags), catch: failed }),
    (opened) => Effect.promise(() => opened.close()),
  )
  const stats = yield* Effect.tryPromise({
    try: () => handle.stat({ bigint: true }),
    catch: failed,
  })
  if (stats.isDirectory()) return yield* refuse("Directory", `${path} is a directory`)
  if (!stats.isFile()) return yield* refuse("Special", `${path} is not a regular file`)
  const identity = identityIn(stats)
  const real = yield* realPath(path)
  const there = real === undefined ? undefined : yield* lookAt(real)
  if (real === undefined || there === undefined || !isSameFile(there.identity, identity)) {
    return yield* refuse("Changed", `${path} changed while it was opened`)
  }
  return {
    real,
    identity,
    size: Number(stats.size),
    mode: Number(stats.mode),
    read: (maxBytes) => Effect.tryPromise({ try: () => readHead(handle, maxBytes), catch: failed }),
  }
})

const lookIn = (stats: BigIntStats): PathLook => ({
  type: stats.isFile()
    ? "File"
    : stats.isDirectory()
      ? "Directory"
      : stats.isSymbolicLink()
        ? "Link"
        : "Special",
  ...identityIn(stats),
  size: stats.size,
  modifiedNs: stats.mtimeNs,
  changedNs: stats.ctimeNs,
})

const notFound = (cause: unknown): PathLook => ({
  type: ["ENOENT", "ENOTDIR"].includes(codeOf(cause)) ? "Missing" : "Unknown",
})

/** The calls of this system. Only Linux has a table of mounts. */
export const pathCalls: PathCalls = {
  mounts: () => {
    try {
      return readFileSync("/proc/self/mountinfo", "utf8")
    } catch {
      // Another system, or one without /proc: every look is asynchronous then.
      return undefined
    }
  },
  lookNow: (path) => {
    try {
      // Creating an error costs more than the call, and most paths that are asked for are missing.
      const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
      return stats === undefined ? { type: "Missing" } : lookIn(stats)
    } catch (cause) {
      return notFound(cause)
    }
  },
  look: (path) => Effect.promise(() => FS.lstat(path, { bigint: true }).then(lookIn, notFound)),
  realPath,
}
