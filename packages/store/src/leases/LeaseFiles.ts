/**
 * Port: the file system operations that leases need, so that tests of `ProcessLeases` run in memory
 * and inject a fault at any operation. `node/NodeLeaseFiles.ts` is the implementation on the
 * machine's file system. Every member is synchronous and throws a `FileFault` with the system's
 * error code.
 */

/**
 * A lock of the operating system on a file. It ends with the process that holds it, however that
 * process ends.
 */
export interface LockFile {
  /** Returns false when another owner holds the lock. Never waits. */
  readonly acquire: () => boolean
  /** Releases the lock and keeps the file open. */
  readonly release: () => void
  /** Releases the lock and closes the file. Never throws. */
  readonly close: () => void
}

/**
 * Distinguishes a file from every file that replaces it at its path, and from itself after its
 * contents were changed: device, inode, length and time of the last modification. Kept by a
 * renaming and by a further link. Two files have the same stamp only when they have the same
 * length, the second was made after the first was gone, and both were written within one tick of
 * the file system's clock.
 */
export type FileStamp = string

/** The file system, as leases need it. */
export interface LeaseFiles {
  /** Creates a folder and its missing parents. */
  readonly makeFolder: (path: string) => void
  /** Names of the entries of a folder. */
  readonly list: (path: string) => ReadonlyArray<string>
  /** The stamp of what exists at the path, without following a link. Throws `ENOENT` otherwise. */
  readonly stat: (path: string) => FileStamp
  /** Contents of a file as text. */
  readonly read: (path: string) => string
  /**
   * Creates or overwrites a file that only its owner may read. Returns its stamp after the write.
   */
  readonly write: (path: string, text: string) => FileStamp
  /** Like `write`, but throws `EEXIST` when something exists at the path. */
  readonly create: (path: string, text: string) => FileStamp
  /**
   * Gives a file a second path, at once and with its contents. Throws `EEXIST` when something
   * exists at that path, and another error where the file system has no such links.
   */
  readonly link: (from: string, to: string) => void
  /** Renames atomically, replacing a file at the new path. */
  readonly rename: (from: string, to: string) => void
  /** Removes a file. */
  readonly remove: (path: string) => void
  /** Opens a lock file, creating it when it is missing. Does not acquire the lock. */
  readonly lockFile: (path: string) => LockFile
}

/** The process that takes leases, as its lease files identify it. */
export interface LeaseProcess {
  /** A UUID that no other process has. */
  readonly owner: string
  readonly pid: number
  readonly host: string
  /** The address that the process publishes for its leases at this moment, if it has one. */
  readonly url?: () => string | undefined
  /** Returns a new UUID at each call, which distinguishes one lease file from every earlier one. */
  readonly nonce: () => string
}
