/**
 * Files of this machine for the client of the user who started the server: outside of any sandbox, by absolute paths.
 * Contents are whole and bounded. Keeps no state but the watches.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Stream from "effect/Stream"
import * as SharedWatches from "./SharedWatches.ts"

/** Largest file that is read or written: with base64 it is a message of 86 MB. */
const maxFileBytes = 64 * 1024 * 1024
/** Entries of a directory that are listed. */
const maxEntries = 100_000

/** The action failed; `message` is for the person. */
export class ClientFileFailed extends Data.TaggedError("ClientFileFailed")<{
  readonly message: string
}> {}

/** Characters of a path that an error repeats; the system allows paths of 4096 bytes. */
const maxShownPath = 4096

const fail = (path: string, problem: string) => {
  const shown = path.length > maxShownPath ? `${path.slice(0, maxShownPath)}…` : path
  return new ClientFileFailed({ message: `${shown}: ${problem}` })
}

const problems: Readonly<Record<string, string>> = {
  NotFound: "No such file or directory (os error 2)",
  PermissionDenied: "Permission denied (os error 13)",
  AlreadyExists: "File exists (os error 17)",
}

const failed =
  (path: string) =>
  ({ reason }: PlatformError): ClientFileFailed => {
    const { cause } = reason
    const code =
      typeof cause === "object" && cause !== null && "code" in cause
        ? String(cause.code)
        : reason._tag
    return fail(path, problems[reason._tag] ?? `failed (${code})`)
  }

const kindOf = ({ type }: Pick<FileSystem.File.Info, "type">) => ({
  isDirectory: type === "Directory",
  isFile: type === "File",
})

const msOf = (time: Option.Option<Date>): number =>
  Option.isSome(time) ? Math.round(time.value.getTime()) : 0

interface Parts {
  readonly fs: FileSystem.FileSystem
  readonly paths: Path.Path
}

const statOf = ({ fs }: Parts, path: string) => Effect.mapError(fs.stat(path), failed(path))

/** The contents of a regular file. */
const read = Effect.fnUntraced(function* (parts: Parts, path: string) {
  const { size, type } = yield* statOf(parts, path)
  // Reading a pipe or a device could wait without end.
  if (type !== "File") return yield* fail(path, "expected a regular file")
  if (size > maxFileBytes) {
    return yield* fail(path, `has ${size} bytes, expected at most ${maxFileBytes}`)
  }
  return yield* Effect.mapError(parts.fs.readFile(path), failed(path))
})

/** Fails for what is there and is no regular file: opening a pipe to write waits for a reader, maybe without end. */
const checkTarget = Effect.fnUntraced(function* ({ fs }: Parts, path: string) {
  const info = yield* Effect.option(fs.stat(path))
  if (Option.isSome(info) && info.value.type !== "File") {
    return yield* fail(path, "expected a regular file, or nothing")
  }
})

const write = Effect.fnUntraced(function* (parts: Parts, path: string, bytes: Uint8Array) {
  if (bytes.length > maxFileBytes) {
    return yield* fail(path, `expected at most ${maxFileBytes} bytes, got ${bytes.length}`)
  }
  yield* checkTarget(parts, path)
  yield* Effect.mapError(parts.fs.writeFile(path, bytes), failed(path))
})

const describe = Effect.fnUntraced(function* (parts: Parts, path: string) {
  const info = yield* statOf(parts, path)
  return {
    ...kindOf(info),
    isSymlink: yield* Effect.isSuccess(parts.fs.readLink(path)),
    sizeBytes: Number(info.size),
    createdAtMs: msOf(info.birthtime),
    modifiedAtMs: msOf(info.mtime),
  }
})

/** The entries of a directory, sorted by name. */
const list = Effect.fnUntraced(function* ({ fs, paths }: Parts, path: string) {
  const names = yield* Effect.mapError(fs.readDirectory(path), failed(path))
  if (names.length > maxEntries) {
    return yield* fail(path, `has ${names.length} entries, expected at most ${maxEntries}`)
  }
  return yield* Effect.forEach(
    names.toSorted(),
    (fileName) =>
      fs.stat(paths.join(path, fileName)).pipe(
        Effect.map((info) => ({ fileName, ...kindOf(info) })),
        // A link that leads nowhere, or an entry that has just been removed.
        Effect.orElseSucceed(() => ({ fileName, isDirectory: false, isFile: false })),
      ),
    { concurrency: 8 },
  )
})

interface Recursive {
  readonly recursive: boolean
}

const copy = Effect.fnUntraced(function* (
  parts: Parts,
  from: string,
  to: string,
  { recursive }: Recursive,
) {
  const { fs, paths } = parts
  const { type } = yield* statOf(parts, from)
  if (type === "File") {
    yield* checkTarget(parts, to)
    return yield* Effect.mapError(fs.copyFile(from, to), failed(to))
  }
  if (type !== "Directory") return yield* fail(from, "expected a regular file or a directory")
  if (!recursive) return yield* fail(from, "is a directory, expected `recursive`: true")
  if (`${paths.resolve(to)}/`.startsWith(`${paths.resolve(from)}/`)) {
    return yield* fail(to, "is within the directory that is copied")
  }
  yield* Effect.mapError(fs.copy(from, to, { overwrite: true }), failed(to))
})

const remove = Effect.fnUntraced(function* (
  { fs, paths }: Parts,
  path: string,
  { force, recursive }: Recursive & { readonly force: boolean },
) {
  if (paths.resolve(path) === "/") return yield* fail(path, "cannot be removed")
  yield* Effect.mapError(fs.remove(path, { force, recursive }), failed(path))
})

/**
 * The changes of a file, or of a directory and its entries, in batches, from this effect to the end of its scope, also when
 * it is removed and made anew. A file is watched as an entry of its directory: many programs write a file by replacing it,
 * and the one that was replaced changes no more.
 */
const watch = Effect.fnUntraced(function* (
  parts: Parts,
  watches: SharedWatches.SharedWatches,
  path: string,
) {
  const { fs, paths } = parts
  const real = yield* Effect.mapError(fs.realPath(path), failed(path))
  const { type } = yield* statOf(parts, real)
  const directory = type === "Directory" ? real : paths.dirname(real)
  const shown = (changed: string): string | undefined => {
    if (type === "Directory") return changed
    return changed === real || changed === directory ? real : undefined
  }
  const changes = yield* Effect.mapError(watches.changes(directory, shown), failed(real))
  return { path: real, changes: Stream.mapError(changes, failed(real)) }
})

/** The functions over the file system of the context. */
export const make = Effect.gen(function* () {
  const parts: Parts = { fs: yield* FileSystem.FileSystem, paths: yield* Path.Path }
  const watches = yield* SharedWatches.make(parts)
  return {
    read: (path: string) => read(parts, path),
    write: (path: string, bytes: Uint8Array) => write(parts, path, bytes),
    describe: (path: string) => describe(parts, path),
    list: (path: string) => list(parts, path),
    createDirectory: (path: string, options: Recursive) =>
      Effect.mapError(parts.fs.makeDirectory(path, options), failed(path)),
    copy: (from: string, to: string, options: Recursive) => copy(parts, from, to, options),
    remove: (path: string, options: Recursive & { readonly force: boolean }) =>
      remove(parts, path, options),
    watch: (path: string) => watch(parts, watches, path),
  }
})
