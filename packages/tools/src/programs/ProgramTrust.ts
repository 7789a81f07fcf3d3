/**
 * Decides which program on this machine may run for the server's own purposes. Pure: the facts about files are
 * parameters.
 *
 * A command in the sandbox runs as the server's own user, so permissions alone do not say what it can change: it can
 * change what lies in a writable root, and what every user of the machine can change. Part of L15.
 */

/** What was found at a path where a program was searched. */
export interface Candidate {
  /** Absolute path that was examined. */
  readonly path: string
  /** Absolute path without symbolic links; undefined when there is no executable file. */
  readonly realPath: string | undefined
  /** Every path that determines what `path` leads to: `path` itself, each symbolic link on the way, and `realPath`. */
  readonly places: ReadonlyArray<string>
  /** A file or directory on the way that every user of the machine can change, if there is one. */
  readonly openPlace: string | undefined
}

/** A candidate that must not run, and the reason. */
export interface Refusal {
  readonly path: string
  readonly reason: string
}

/** Where systems install programs. Searched before PATH, which a user may have pointed at a project. */
export const systemDirectories: ReadonlyArray<string> = ["/usr/bin", "/bin", "/usr/local/bin"]

/**
 * True when `path` is `directory` or lies in it. Both are absolute and normalized. Nothing counts as lying in `/`:
 * under a policy that lets commands write everywhere no program could be trusted, so such a policy refuses none.
 */
const isWithinRoot = (path: string, directory: string): boolean =>
  directory !== "/" && (path === directory || path.startsWith(`${directory}/`))

/** The first of the roots that contains the path, if any. */
export const rootHolding = (path: string, roots: Iterable<string>): string | undefined => {
  for (const root of roots) if (isWithinRoot(path, root)) return root
  return undefined
}

/** Why this entry of PATH is not searched; undefined when it is. */
const entryFault = (entry: string): string | undefined => {
  if (entry === "") return "an empty entry of PATH means the working directory"
  if (!entry.startsWith("/")) return "a relative entry of PATH depends on the working directory"
  return entry.split("/").includes("node_modules")
    ? "it holds the programs of a project, not of the machine"
    : undefined
}

/** The directories in which programs are searched, in order, and the entries of PATH that are skipped. */
export const searchOrder = (
  searchPath: string,
): { readonly directories: ReadonlyArray<string>; readonly ignored: ReadonlyArray<Refusal> } => {
  const entries = searchPath === "" ? [] : searchPath.split(":")
  const ignored: Array<Refusal> = []
  const directories = new Set(systemDirectories)
  for (const entry of entries) {
    const reason = entryFault(entry)
    if (reason === undefined) directories.add(entry)
    else ignored.push({ path: entry, reason })
  }
  return { directories: [...directories], ignored }
}

/** Why the candidate must not run outside the sandbox while commands can write to `roots`; undefined when it may. */
export const refusalOf = (
  { openPlace, path, places, realPath }: Candidate,
  roots: ReadonlyArray<string>,
): Refusal | undefined => {
  if (realPath === undefined) return { path, reason: "it is no executable file" }
  for (const place of places) {
    const root = rootHolding(place, roots)
    if (root !== undefined) {
      const at = place === path ? "it lies" : `it leads through ${place}, which lies`
      return { path, reason: `${at} in ${root}, where commands can write` }
    }
  }
  return openPlace === undefined
    ? undefined
    : { path, reason: `every user of this machine can change ${openPlace}` }
}
