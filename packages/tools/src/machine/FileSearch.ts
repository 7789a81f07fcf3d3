/**
 * Finds files by a fuzzy query: ripgrep lists the files that are not ignored, fuzzysort ranks them. The original also
 * lists `.git` and crashes for an empty list of roots; this one does neither.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as fuzzysort from "fuzzysort"
import type { CommandNotStarted } from "../process/Command.ts"
import * as ServerProgram from "../programs/ServerProgram.ts"
import type { ProgramNotTrusted } from "../programs/TrustedPrograms.ts"
import { isWithin } from "../sandbox/PathContainment.ts"
import { realPath } from "../sandbox/NodeFiles.ts"

/** The search failed; `message` is one line. */
export class FileSearchFailed extends Data.TaggedError("FileSearchFailed")<{
  readonly message: string
}> {}

/** A file that matches the query. */
export interface FoundFile {
  /** The root as it was given. */
  readonly root: string
  /** Path relative to the root. */
  readonly path: string
  readonly file_name: string
  /** 1 to 1000; higher is better. */
  readonly score: number
  /** Positions of the matched characters in `path`, in UTF-16 code units. */
  readonly indices: ReadonlyArray<number>
}

/** A search request. */
export interface FileSearch {
  readonly query: string
  /** Absolute paths of directories. */
  readonly roots: ReadonlyArray<string>
  /** When it resolves, the search returns the files found so far. */
  readonly until: Effect.Effect<void>
}

/** Number of results, as in the original. */
const maxResults = 50
/** Files of a larger tree beyond this number are not searched; listing this many takes a second. */
const maxFiles = 200_000
const listBound = Duration.seconds(20)
const killGrace = Duration.millis(500)

const args = [
  "--files",
  "--hidden",
  "--null",
  "--no-messages",
  "--no-config",
  "--color=never",
  "--glob=!.git",
  "--sort=none",
  ".",
]

/** What a search needs. */
export interface FileSearchParts extends ServerProgram.ServerProgramServices {
  /** Absolute path of the ripgrep that was installed together with the server. */
  readonly ripgrep: string
  /** Directories whose files are not listed. Absolute paths. */
  readonly hiddenPaths: ReadonlyArray<string>
}

interface Listed {
  readonly root: string
  readonly path: string
}

/** Splits the listing, which arrives in pieces; a name may be cut between two of them. */
const splitter = (root: string, found: Array<Listed>, isHidden: (path: string) => boolean) => {
  const decoder = new TextDecoder()
  let rest = ""
  return (bytes: Uint8Array) =>
    Effect.sync(() => {
      const names = (rest + decoder.decode(bytes, { stream: true })).split("\0")
      rest = names.pop() ?? ""
      for (const name of names) {
        const path = name.replace(/^\.\//, "")
        if (found.length < maxFiles && !isHidden(path)) found.push({ root, path })
      }
    })
}

const realOf = (path: string) => Effect.map(realPath(path), (real) => real ?? path)

/** A root that does not exist or is no directory has no files. Any other failure does not mean that. */
const isMissing = (error: CommandNotStarted | ProgramNotTrusted): boolean =>
  error._tag === "CommandNotStarted" && error.reason === "Directory"

/** Lists the files of one root. Fails when the listing program cannot be started. */
const list = Effect.fnUntraced(function* (
  parts: FileSearchParts,
  root: string,
  found: Array<Listed>,
): Effect.fn.Return<void, FileSearchFailed> {
  const [real, hidden] = yield* Effect.all([
    realOf(root),
    Effect.forEach(parts.hiddenPaths, realOf),
  ])
  const isHidden = (path: string) =>
    hidden.some((directory) => isWithin(`${real === "/" ? "" : real}/${path}`, directory))
  const take = splitter(root, found, isHidden)
  yield* ServerProgram.run(
    parts,
    { name: "rg", installed: parts.ripgrep, args, cwd: root, readsDataOnly: true },
    {
      timeout: listBound,
      killGrace,
      maxOutputBytes: 1024,
      onOutput: ({ bytes, stream }) => (stream === "stdout" ? take(bytes) : Effect.void),
    },
  ).pipe(
    Effect.catch((error) =>
      isMissing(error)
        ? Effect.logDebug(`not searched: ${error.message}`)
        : Effect.fail(new FileSearchFailed({ message: `${root}: ${error.message}` })),
    ),
    Effect.asVoid,
  )
})

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

const rank = (query: string, files: ReadonlyArray<Listed>): ReadonlyArray<FoundFile> =>
  fuzzysort
    .go(query, files, { key: "path", limit: maxResults, threshold: 0 })
    .map(({ indexes, obj, score }) => ({
      root: obj.root,
      path: obj.path,
      file_name: nameOf(obj.path),
      score: Math.max(1, Math.round(score * 1000)),
      indices: [...indexes],
    }))
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))

/** The best 50 files, best first. Fails when a root that exists cannot be listed. */
export const searchFiles = (
  parts: FileSearchParts,
  search: FileSearch,
): Effect.Effect<ReadonlyArray<FoundFile>, FileSearchFailed> =>
  Effect.suspend(() => {
    const found: Array<Listed> = []
    const roots = [...new Set(search.roots)]
    const listing = Effect.forEach(roots, (root) => list(parts, root, found), {
      concurrency: 4,
      discard: true,
    })
    return Effect.map(Effect.raceFirst(listing, search.until), () => rank(search.query, found))
  })
