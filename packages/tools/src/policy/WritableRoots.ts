/**
 * Where a sandbox policy lets something be written (§4.3), as plain text: it asks no file system and follows no link.
 * Who has links to follow resolves them first, in the roots and in the paths alike. What is protected stays so
 * whichever root holds it.
 */
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import { resolvePath } from "@colloquy/core/AbsolutePath"

/** What the text of a policy does not say about this machine and conversation. */
export interface Places {
  /** Of the conversation; absolute. */
  readonly cwd: string
  /** Value of `$TMPDIR`. */
  readonly tmpdir?: string
  readonly slashTmpIsDirectory: boolean
  /** Never written under a confining policy: the state directory, the auth file, where a `.git` file points. Absolute. */
  readonly protectedPaths: ReadonlyArray<string>
}

export interface WritableRoot {
  /** Absolute. */
  readonly root: string
  /**
   * Read-only all the same: `.git` of the root, there or not, and what is protected in it. A protected directory that
   * holds the whole root is among them too.
   */
  readonly readOnly: ReadonlyArray<string>
}

export type Writable =
  | { readonly _tag: "Everything" }
  | { readonly _tag: "Roots"; readonly roots: ReadonlyArray<WritableRoot> }

const isAbsolute = (path: string): boolean => path.startsWith("/")

/** What follows the root, without a slash at its front; undefined: not at or below it. */
const below = (root: string, path: string): string | undefined => {
  if (path === root) return ""
  const front = root === "/" ? "/" : `${root}/`
  return path.startsWith(front) ? path.slice(front.length) : undefined
}

/** Where case or composition makes no other file, they make no other name either; elsewhere a question too many. */
const fold = (path: string): string => path.normalize("NFC").toLowerCase()

/** The roots of `policy`, in the order cwd, configured, `/tmp`, `$TMPDIR`; each once. */
export const writableRoots = (policy: SandboxPolicy, places: Places): Writable => {
  switch (policy.mode) {
    case "danger-full-access":
    case "external-sandbox":
      return { _tag: "Everything" }
    case "read-only":
      return { _tag: "Roots", roots: [] }
    case "workspace-write": {
      const { cwd, protectedPaths, slashTmpIsDirectory, tmpdir = "" } = places
      const named = [
        cwd,
        ...(policy.writable_roots ?? []),
        ...(slashTmpIsDirectory && policy.exclude_slash_tmp !== true ? ["/tmp"] : []),
        ...(isAbsolute(tmpdir) && policy.exclude_tmpdir_env_var !== true ? [tmpdir] : []),
      ]
      const roots = [...new Set(named.map((root) => resolvePath(cwd, root)))]
      const shut = protectedPaths.map((path) => resolvePath(cwd, path))
      return {
        _tag: "Roots",
        roots: roots.map((root) => ({
          root,
          readOnly: [
            resolvePath(root, ".git"),
            ...shut.filter(
              (path) =>
                below(fold(root), fold(path)) !== undefined ||
                below(fold(path), fold(root)) !== undefined,
            ),
          ],
        })),
      }
    }
  }
}

const isShut = ({ readOnly, root }: WritableRoot, path: string): boolean =>
  readOnly.some((shut) => below(fold(shut), fold(path)) !== undefined) ||
  (below(fold(root), fold(path))?.split("/").includes(".git") ?? false)

/**
 * True when `path` lies at or below a root and nothing protects it. A `.git` deeper in a root is protected as well:
 * its hooks run like those of the outermost. A path that is not absolute is not writable; `..` is taken at its word.
 */
export const isWritable = (writable: Writable, path: string): boolean => {
  if (writable._tag === "Everything") return true
  if (!isAbsolute(path) || path.includes("\0")) return false
  const plain = resolvePath("/", path)
  return (
    writable.roots.some(({ root }) => below(root, plain) !== undefined) &&
    !writable.roots.some((root) => isShut(root, plain))
  )
}
