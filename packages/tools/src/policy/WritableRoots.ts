/**
 * Determines from the text of a sandbox policy where something may be written. It uses no file system and follows no
 * link: the caller resolves links first, in the roots and in the paths alike. A protected path stays protected
 * whichever root contains it.
 */
import type { ConfiningPolicy } from "@colloquy/core/approvals/Confinement"
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import { resolvePath } from "@colloquy/core/AbsolutePath"

/** Facts about the machine and the conversation that the policy does not contain. */
export interface Places {
  /** Working directory of the conversation, an absolute path. */
  readonly cwd: string
  /** Value of `$TMPDIR`. */
  readonly tmpdir?: string
  /** False: `/tmp` is not counted among the roots. */
  readonly slashTmpIsDirectory: boolean
  /**
   * Never written under a confining policy: the state directory, the auth file, the target of a `.git` file. Absolute.
   */
  readonly protectedPaths: ReadonlyArray<string>
}

/** A directory in which commands may write. */
export interface WritableRoot {
  /** Absolute path. */
  readonly root: string
  /**
   * Paths that stay read-only: `.git` of the root, whether it exists or not, and protected paths in it. A protected
   * directory that contains the whole root is among them too.
   */
  readonly readOnly: ReadonlyArray<string>
}

/** Where a policy lets something be written. */
export type Writable =
  | { readonly _tag: "Everything" }
  | { readonly _tag: "Roots"; readonly roots: ReadonlyArray<WritableRoot> }

const isAbsolute = (path: string): boolean => path.startsWith("/")

/** The path relative to the root, without a leading slash; undefined: not at or below the root. */
const below = (root: string, path: string): string | undefined => {
  if (path === root) return ""
  const front = root === "/" ? "/" : `${root}/`
  return path.startsWith(front) ? path.slice(front.length) : undefined
}

/** Some file systems ignore case or composition, so names that differ only in these count as equal; elsewhere too. */
const fold = (path: string): string => path.normalize("NFC").toLowerCase()

const rooted = (
  named: ReadonlyArray<string>,
  { cwd, protectedPaths }: Pick<Places, "cwd" | "protectedPaths">,
): Writable => {
  const roots = [...new Set(named.map((root) => resolvePath(cwd, root)))]
  const protectedAbsolute = protectedPaths.map((path) => resolvePath(cwd, path))
  return {
    _tag: "Roots",
    roots: roots.map((root) => ({
      root,
      readOnly: [
        resolvePath(root, ".git"),
        ...protectedAbsolute.filter(
          (path) =>
            below(fold(root), fold(path)) !== undefined ||
            below(fold(path), fold(root)) !== undefined,
        ),
      ],
    })),
  }
}

/**
 * The roots of `policy`, in the order: working directory, configured roots, `/tmp`, `$TMPDIR`, what a person has granted; each
 * once.
 */
export const writableRoots = (
  policy: SandboxPolicy | ConfiningPolicy,
  places: Places,
): Writable => {
  switch (policy.mode) {
    case "danger-full-access":
    case "external-sandbox":
      return { _tag: "Everything" }
    case "read-only":
      return rooted(grantedBy(policy), places)
    case "workspace-write": {
      const { cwd, slashTmpIsDirectory, tmpdir = "" } = places
      const named = [
        cwd,
        ...(policy.writable_roots ?? []),
        ...(slashTmpIsDirectory && policy.exclude_slash_tmp !== true ? ["/tmp"] : []),
        ...(isAbsolute(tmpdir) && policy.exclude_tmpdir_env_var !== true ? [tmpdir] : []),
        ...grantedBy(policy),
      ]
      return rooted(named, places)
    }
  }
}

const grantedBy = ({ granted }: ConfiningPolicy): ReadonlyArray<string> => granted?.write ?? []

const isReadOnly = ({ readOnly, root }: WritableRoot, path: string): boolean =>
  readOnly.some((protectedPath) => below(fold(protectedPath), fold(path)) !== undefined) ||
  (below(fold(root), fold(path))?.split("/").includes(".git") ?? false)

/**
 * True when `path` is at or below a root and nothing protects it. A `.git` deeper in a root is protected as well,
 * because its hooks run like those of the outermost. A relative path is not writable; `..` is resolved textually.
 */
export const isWritable = (writable: Writable, path: string): boolean => {
  if (writable._tag === "Everything") return true
  if (!isAbsolute(path) || path.includes("\0")) return false
  const plain = resolvePath("/", path)
  return (
    writable.roots.some(({ root }) => below(root, plain) !== undefined) &&
    !writable.roots.some((root) => isReadOnly(root, plain))
  )
}
