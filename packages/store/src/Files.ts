/**
 * Port: the file system operations that the store needs. Because the store uses no other file
 * system access, its tests run in memory and inject a fault at any byte. `node/NodeFiles.ts` is the
 * implementation on the machine's file system. The port knows nothing of rollouts and holds no
 * state except open handles.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * The operating system refused a file operation. `code` is the system's name of the reason, such as
 * `ENOSPC`.
 */
export class FileFault extends Data.TaggedError("FileFault")<{
  /** Name of the failed operation, for messages. */
  readonly operation: string
  readonly path: string
  /** The system's error code, or `UNKNOWN`. */
  readonly code: string
}> {
  override get message() {
    return `${this.operation} ${this.path}: ${this.code}`
  }
}

/** What the file system knows of one directory entry. */
export interface FileStat {
  readonly kind: "file" | "directory" | "other"
  readonly bytes: number
  /** Time of the last modification, in milliseconds since the epoch. */
  readonly modifiedMs: number
  /** Distinguishes this file from another file that has, or had, the same path. */
  readonly identity: string
}

/** An open file. Offsets and lengths are in bytes. Operations do not wait for one another. */
export interface FileHandle {
  /** Returns fewer than `length` bytes only at the end of the file. */
  readonly read: (offset: number, length: number) => Effect.Effect<Uint8Array, FileFault>
  /** Returns the number of bytes written, which may be smaller than the number requested. */
  readonly write: (offset: number, bytes: Uint8Array) => Effect.Effect<number, FileFault>
  /** Shortens the file to this length. */
  readonly truncate: (bytes: number) => Effect.Effect<void, FileFault>
  /** Completes when contents and length are on the disk. */
  readonly sync: Effect.Effect<void, FileFault>
  /**
   * For a file that was just created: completes when its contents, its length and its entry in its
   * directory are on the disk, both at the same time.
   */
  readonly syncCreated: Effect.Effect<void, FileFault>
  readonly stat: Effect.Effect<FileStat, FileFault>
}

/** One entry of a directory. */
export interface DirectoryEntry {
  readonly name: string
  /** A link is `other`. */
  readonly kind: "file" | "directory" | "other"
}

/** The file system. */
export class Files extends Context.Service<
  Files,
  {
    /**
     * Opens an existing regular file. Never follows a link in the last part of the path. The handle
     * is closed with the scope.
     */
    readonly open: (
      path: string,
      mode: "read" | "write",
    ) => Effect.Effect<FileHandle, FileFault, Scope.Scope>
    /**
     * Creates a file that only its owner may read and write. Fails with `EEXIST` when the path is
     * taken.
     */
    readonly create: (path: string) => Effect.Effect<FileHandle, FileFault, Scope.Scope>
    /**
     * Creates a directory and its missing parents. Completes when the new directories are on the
     * disk.
     */
    readonly makeDirectory: (path: string) => Effect.Effect<void, FileFault>
    /** Completes when every creation, renaming and removal in the directory is on the disk. */
    readonly syncDirectory: (path: string) => Effect.Effect<void, FileFault>
    /** The entries of a directory, in no particular order. */
    readonly list: (path: string) => Effect.Effect<ReadonlyArray<DirectoryEntry>, FileFault>
    /** Describes the entry itself, without following it: a link is `other`. */
    readonly stat: (path: string) => Effect.Effect<FileStat, FileFault>
    /** Resolves all links of a path. */
    readonly realPath: (path: string) => Effect.Effect<string, FileFault>
    /** Renames within one file system. Fails with `EEXIST` when the new path is taken. */
    readonly rename: (from: string, to: string) => Effect.Effect<void, FileFault>
    /**
     * Appends to a file with one write at its end, wherever the end is by then. Creates the file when it is missing,
     * readable by its owner only. Never follows a link in the last part of the path. Completes when the bytes are on the disk.
     */
    readonly append: (path: string, bytes: Uint8Array) => Effect.Effect<void, FileFault>
    /** Removes a file. */
    readonly remove: (path: string) => Effect.Effect<void, FileFault>
  }
>()("@colloquy/store/Files") {}
