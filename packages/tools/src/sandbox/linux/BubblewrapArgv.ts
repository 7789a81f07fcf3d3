/**
 * Builds the argument list of bubblewrap from facts about the file system. Pure: it does not look at the machine, and
 * does not decide what is allowed. Part of L15.
 *
 * Mounts go from the outside in, so that the innermost wins. A mount point can be neither renamed nor removed inside
 * the sandbox, but the directories above it can be. Those between the outermost writable root and each writable root or
 * protected path in it are therefore bound onto themselves ("pinned"): otherwise that path could be moved away and made
 * anew.
 */
import { isWithin } from "../PathContainment.ts"
import type { ProtectedPath } from "../ProtectedPath.ts"
import { launcherPath } from "./Landlock.ts"

/**
 * What bubblewrap is asked for. All paths are absolute, exist unless stated otherwise, and contain no symbolic link.
 */
export interface BubblewrapOptions {
  /** Path of bubblewrap. */
  readonly bwrap: string
  /** The command that runs in the sandbox. */
  readonly argv: ReadonlyArray<string>
  /** Working directory of the command. */
  readonly cwd: string
  /** Directories that the command can write to; all else is read-only. */
  readonly writableRoots: ReadonlyArray<string>
  readonly protectedPaths: ReadonlyArray<ProtectedPath>
  /** False: the command has a separate network, with a loopback interface only. */
  readonly network: boolean
  /** Variables that bubblewrap itself would obey, hence are set inside the sandbox only. */
  readonly variables: Readonly<Record<string, string>>
  /** Absolute path of the program that `launcherPath` links to inside the sandbox, if any. */
  readonly launcher?: string
  /** Descriptor from which bubblewrap reads the filter of system calls. */
  readonly seccompFd: number
  /** Descriptor to which bubblewrap writes its status as JSON. */
  readonly statusFd: number
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/"

const depthOf = (path: string): number => (path === "/" ? 0 : path.split("/").length - 1)

/** Directories strictly between `from` and `to`, outermost first. */
const between = (from: string, to: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let path = parentOf(to); path !== from && path !== "/"; path = parentOf(path))
    found.push(path)
  return found.toReversed()
}

/** One mount of the sandbox. */
interface Mount {
  readonly path: string
  /** Order among mounts at the same path: later ones cover earlier ones. */
  readonly rank: number
  readonly words: ReadonlyArray<string>
}

const bind = (path: string, rank = 0): Mount => ({ path, rank, words: ["--bind", path, path] })
const readOnly = (path: string, rank: number): Mount => ({
  path,
  rank,
  words: ["--ro-bind", path, path],
})

/** Directories that the sandbox provides itself. No root makes them writable: that would reach the machine's own. */
const ownPlaces = ["/proc", "/sys", "/dev"]
const isOwnPlace = (root: string): boolean =>
  ownPlaces.some((place) => isWithin(root, place)) && !isWithin(root, "/dev/shm")

/** The roots that are mounted. Each is mounted at its own path. */
export const boundRoots = (roots: ReadonlyArray<string>): ReadonlyArray<string> =>
  roots.filter((root) => root !== "/" && !isOwnPlace(root))

const mountsOf = (protectedPath: ProtectedPath): ReadonlyArray<Mount> => {
  const { path } = protectedPath
  switch (protectedPath.kind) {
    case "readOnly":
      return [readOnly(path, 2)]
    case "hiddenFile":
      return [{ path, rank: 3, words: ["--ro-bind", "/dev/null", path] }]
    case "empty":
    case "hiddenDirectory":
      return [{ path, rank: 3, words: ["--perms", "0555", "--tmpfs", path] }]
    case "frozen":
      return [readOnly(path, 1), ...protectedPath.entries.map((entry) => bind(entry, 0))]
  }
}

/** The paths that are `path` or contain it, outermost first. */
const holding = (paths: ReadonlyArray<string>, path: string): ReadonlyArray<string> =>
  paths.filter((candidate) => isWithin(path, candidate)).toSorted((a, b) => depthOf(a) - depthOf(b))

/**
 * Pins for the directories above `path` that commands could rename, because they lie in a writable root that may be
 * several levels further out. None in what is protected as a whole, which a pin would open again, nor in a directory
 * that the sandbox provides itself, where a pin would open the machine's.
 */
const pinsOf = (
  path: string,
  roots: ReadonlyArray<string>,
  guarded: ReadonlyArray<string>,
): ReadonlyArray<Mount> => {
  const [outermost] = holding(roots, path)
  if (outermost === undefined || outermost === path) return []
  const isRenamable = (directory: string): boolean => {
    const root = holding(roots, directory).at(-1)
    const protectedPath = holding(guarded, directory).at(-1)
    const isOwn = root === "/" && ownPlaces.some((place) => isWithin(directory, place))
    return (
      root !== undefined &&
      !isOwn &&
      (protectedPath === undefined || !isWithin(protectedPath, root))
    )
  }
  return between(outermost, path)
    .filter(isRenamable)
    .map((directory) => bind(directory))
}

/** Empty directories are made read-only last, because mount points may have to be created in them first. */
const sealsOf = (protectedPaths: ReadonlyArray<ProtectedPath>): ReadonlyArray<string> =>
  protectedPaths
    .filter(({ kind }) => kind === "empty" || kind === "hiddenDirectory")
    .flatMap(({ path }) => ["--remount-ro", path])

const mountWords = ({
  writableRoots,
  protectedPaths,
}: Pick<BubblewrapOptions, "protectedPaths" | "writableRoots">): ReadonlyArray<string> => {
  const roots = boundRoots(writableRoots)
  const all = writableRoots.includes("/") ? ["/", ...roots] : roots
  const guarded = protectedPaths.filter(({ kind }) => kind !== "frozen").map(({ path }) => path)
  const mounts = [
    ...roots.flatMap((root) => [...pinsOf(root, all, guarded), bind(root)]),
    ...protectedPaths.flatMap((protectedPath) => [
      ...pinsOf(protectedPath.path, all, guarded),
      ...mountsOf(protectedPath),
    ]),
  ]
  const seen = new Set<string>()
  return mounts
    .toSorted((a, b) => depthOf(a.path) - depthOf(b.path) || a.rank - b.rank)
    .filter(({ words }) => !seen.has(words.join("\0")) && seen.add(words.join("\0")))
    .flatMap(({ words }) => words)
}

/**
 * The options before the words of the program. A root of `/` makes everything writable but `/sys`, `/proc` and `/dev`;
 * roots within those are ignored (except in `/dev/shm`). `/proc` is read-only as a whole, because bubblewrap 0.8 leaves
 * `/proc/sys` writable to root.
 */
export const bubblewrapOptions = (
  confinement: Omit<BubblewrapOptions, "argv" | "bwrap">,
): ReadonlyArray<string> => {
  const { cwd, launcher, network, seccompFd, statusFd, variables, writableRoots } = confinement
  const base = writableRoots.includes("/")
    ? ["--bind", "/", "/", "--ro-bind", "/sys", "/sys"]
    : ["--ro-bind", "/", "/"]
  return [
    "--new-session",
    "--die-with-parent",
    ...base,
    "--dev",
    "/dev",
    ...(launcher === undefined ? [] : ["--symlink", launcher, launcherPath]),
    "--proc",
    "/proc",
    ...mountWords(confinement),
    ...sealsOf(confinement.protectedPaths),
    "--remount-ro",
    "/proc",
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    ...(network ? [] : ["--unshare-net"]),
    "--cap-drop",
    "ALL",
    "--disable-userns",
    ...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]),
    "--chdir",
    cwd,
    "--seccomp",
    String(seccompFd),
    "--json-status-fd",
    String(statusFd),
  ]
}

/** The whole argument list. */
export const bubblewrapArgv = (
  confinement: BubblewrapOptions,
): readonly [string, ...ReadonlyArray<string>] => [
  confinement.bwrap,
  ...bubblewrapOptions(confinement),
  "--",
  ...confinement.argv,
]
