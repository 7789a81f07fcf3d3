/**
 * Port: the file system as the store needs it, so that everything above runs in memory with a fault at any byte.
 * `node/NodeFiles.ts` is the real one. Knows nothing of rollouts; holds nothing but open handles.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** The system refused; `code` is its name for the reason, as `ENOSPC`. */
export class FileFault extends Data.TaggedError("FileFault")<{
  readonly operation: string
  readonly path: string
  readonly code: string
}> {
  override get message() {
    return `${this.operation} ${this.path}: ${this.code}`
  }
}

export interface FileStat {
  readonly kind: "file" | "directory" | "other"
  readonly bytes: number
  readonly modifiedMs: number
  /** Tells one file from another that stands, or stood, in its place. */
  readonly identity: string
}

/** Positions and lengths in bytes. None of them waits for another one. */
export interface FileHandle {
  /** Shorter than `length` at the end of the file alone. */
  readonly read: (offset: number, length: number) => Effect.Effect<Uint8Array, FileFault>
  /** How much was written, which may be less than asked for. */
  readonly write: (offset: number, bytes: Uint8Array) => Effect.Effect<number, FileFault>
  readonly truncate: (bytes: number) => Effect.Effect<void, FileFault>
  /** Contents and length are on the disk. */
  readonly sync: Effect.Effect<void, FileFault>
  readonly stat: Effect.Effect<FileStat, FileFault>
}

export interface DirectoryEntry {
  readonly name: string
  readonly kind: "file" | "directory" | "other"
}

export class Files extends Context.Service<
  Files,
  {
    /** An existing regular file, never through a link in its last part. Closed with the scope. */
    readonly open: (
      path: string,
      mode: "read" | "write",
    ) => Effect.Effect<FileHandle, FileFault, Scope.Scope>
    /** Fails `EEXIST` when there is anything. Readable and writable by its owner alone. */
    readonly create: (path: string) => Effect.Effect<FileHandle, FileFault, Scope.Scope>
    /** With its parents; the new ones are on the disk afterwards. */
    readonly makeDirectory: (path: string) => Effect.Effect<void, FileFault>
    /** What was made, renamed and removed in it is on the disk. */
    readonly syncDirectory: (path: string) => Effect.Effect<void, FileFault>
    /** In no order. */
    readonly list: (path: string) => Effect.Effect<ReadonlyArray<DirectoryEntry>, FileFault>
    /** Of the entry itself: a link is `other`. */
    readonly stat: (path: string) => Effect.Effect<FileStat, FileFault>
    /** The path without links. */
    readonly realPath: (path: string) => Effect.Effect<string, FileFault>
    /** Within one file system. Fails `EEXIST` when something has the new name. */
    readonly rename: (from: string, to: string) => Effect.Effect<void, FileFault>
    readonly remove: (path: string) => Effect.Effect<void, FileFault>
  }
>()("@colloquy/store/Files") {}
