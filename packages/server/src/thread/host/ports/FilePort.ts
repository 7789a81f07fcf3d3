/**
 * Port: files of this machine as the client reads and writes them, outside of any sandbox: the client acts for the user who
 * started the server. Paths are absolute. The default has no files: every member fails.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** The action failed; `message` is for the person. */
export class FileFailed extends Data.TaggedError("FileFailed")<{ readonly message: string }> {}

/** What a directory entry or a path is, links followed. */
export interface FileKind {
  readonly isDirectory: boolean
  readonly isFile: boolean
}

/** A description of a file or directory. Times are 0 where the file system does not know them. */
export interface FileFacts extends FileKind {
  readonly isSymlink: boolean
  readonly sizeBytes: number
  readonly createdAtMs: number
  readonly modifiedAtMs: number
}

/** A watched path. */
export interface Watch {
  /** The path without symbolic links. */
  readonly path: string
  /** The changed paths, in batches, until the stream is interrupted, also when the path is removed and made anew. */
  readonly changes: Stream.Stream<ReadonlyArray<string>, FileFailed>
}

/** The files of a machine. */
export interface Files {
  /** The contents of a regular file, up to a limit of the implementation; a longer one fails. */
  readonly read: (path: string) => Effect.Effect<Uint8Array, FileFailed>
  /** Writes a file, replacing one that exists. Creates no directories. */
  readonly write: (path: string, bytes: Uint8Array) => Effect.Effect<void, FileFailed>
  readonly describe: (path: string) => Effect.Effect<FileFacts, FileFailed>
  /** The entries of a directory, sorted by name. */
  readonly list: (
    path: string,
  ) => Effect.Effect<ReadonlyArray<FileKind & { readonly fileName: string }>, FileFailed>
  readonly createDirectory: (
    path: string,
    options: { readonly recursive: boolean },
  ) => Effect.Effect<void, FileFailed>
  /** Copies a file, or with `recursive` a directory and what is in it. */
  readonly copy: (
    from: string,
    to: string,
    options: { readonly recursive: boolean },
  ) => Effect.Effect<void, FileFailed>
  /** `force`: a path where nothing is counts as removed. */
  readonly remove: (
    path: string,
    options: { readonly recursive: boolean; readonly force: boolean },
  ) => Effect.Effect<void, FileFailed>
  /** Watches a path from this effect, so that no later change is missed, to the end of its scope. Fails when nothing is there. */
  readonly watch: (path: string) => Effect.Effect<Watch, FileFailed, Scope.Scope>
}

const fail = Effect.suspend(() =>
  Effect.fail(new FileFailed({ message: "access to files is disabled" })),
)

/** Without files: every member fails. */
export const noFiles: Files = {
  read: () => fail,
  write: () => fail,
  describe: () => fail,
  list: () => fail,
  createDirectory: () => fail,
  copy: () => fail,
  remove: () => fail,
  watch: () => fail,
}

/** The files that clients use. */
export const FilePort = Context.Reference<Files>("@colloquy/server/thread/host/FilePort", {
  defaultValue: () => noFiles,
})
