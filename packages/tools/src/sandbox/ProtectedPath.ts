/** A path that the sandbox protects from commands, and how. Independent of the system that enforces it. */

/** How a path is protected from commands in the sandbox. */
export type ProtectedPath =
  /** An existing file or directory: readable, not writable. */
  | { readonly path: string; readonly kind: "readOnly" }
  /** A path that does not exist: a read-only empty directory takes its place while a command runs. */
  | { readonly path: string; readonly kind: "empty" }
  /** A file that commands cannot read. */
  | { readonly path: string; readonly kind: "hiddenFile" }
  /** A directory whose content commands cannot read. */
  | { readonly path: string; readonly kind: "hiddenDirectory" }
  /**
   * A directory that contains an entry which has to stay but cannot be mounted over (a symbolic link). No entry can be
   * created or removed in it. `entries` are the absolute paths of the entries that stay writable.
   */
  | {
      readonly path: string
      readonly kind: "frozen"
      readonly entries: ReadonlyArray<string>
    }
