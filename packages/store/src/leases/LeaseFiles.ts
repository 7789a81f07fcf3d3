/**
 * Port: what leases need of the file system, so that `LeaseDesk.ts` runs in memory with a fault at any operation.
 * `node/NodeLeaseDisk.ts` is the real one. Every member runs at once and throws a `FileFault` that names the system's reason.
 */

/** A lock of the operating system on a file: it ends with the process that holds it, however that process ends. */
export interface LockFile {
  /** False when another owner holds it. */
  readonly acquire: () => boolean
  readonly release: () => void
  /** Releases the lock as well. Never throws. */
  readonly close: () => void
}

export interface LeaseFiles {
  /** With its parents. */
  readonly makeFolder: (path: string) => void
  /** Names of the entries of a folder. */
  readonly list: (path: string) => ReadonlyArray<string>
  /** Returns when there is something at the path. */
  readonly stat: (path: string) => void
  readonly read: (path: string) => string
  readonly write: (path: string, text: string) => void
  /** Atomic: replaces what has the new name. */
  readonly rename: (from: string, to: string) => void
  readonly remove: (path: string) => void
  /** Opens the file of a lock, made when there is none; locks nothing yet. */
  readonly lockFile: (path: string) => LockFile
}

/** The process that takes leases, as its lease files name it. */
export interface LeaseProcess {
  /** A UUID that no other process has. */
  readonly owner: string
  readonly pid: number
  readonly host: string
  /** A new UUID at each call: tells one lease file from every earlier one. */
  readonly nonce: () => string
}
