/**
 * Finds the root of the repository of a directory: the nearest ancestor with a `.git`, which is a directory or a file.
 * An empty directory of that name does not count: a sandbox creates one wherever a command could create a repository.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { PathView } from "../sandbox/PathFacts.ts"

/** What cannot be read does not count. Follows links, through the thread pool. */
const isRepositoryByFiles = Effect.fnUntraced(
  function* (dotGit: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const isWhole = Effect.orElseSucceed(fs.exists(path.join(dotGit, "HEAD")), () => false)
    return (yield* isWhole) || (yield* fs.stat(dotGit)).type === "File"
  },
  Effect.orElseSucceed(() => false),
)

const isRepository = Effect.fnUntraced(function* (dotGit: string, view: PathView) {
  const found = yield* view.lookAt(dotGit)
  if (found.type === "Missing") return false
  if (found.type === "File") return true
  const head = found.type === "Directory" ? yield* view.lookAt(`${dotGit}/HEAD`) : found
  if (head.type === "Missing") return false
  return head.type === "File" || (yield* isRepositoryByFiles(dotGit))
})

/** The directories from the root of the repository down to `cwd`; undefined where there is no repository. */
export const repositoryDirectories = Effect.fnUntraced(function* (cwd: string, view: PathView) {
  const path = yield* Path.Path
  const below: Array<string> = []
  for (let at = path.resolve(cwd); ; at = path.dirname(at)) {
    below.unshift(at)
    if (yield* isRepository(path.join(at, ".git"), view)) return below
    if (path.dirname(at) === at) return undefined
  }
})

/** The root of the repository, or `cwd` where there is none. */
export const gitRoot = (
  cwd: string,
  view: PathView,
): Effect.Effect<string, never, FileSystem.FileSystem | Path.Path> =>
  Effect.map(repositoryDirectories(cwd, view), (directories) => directories?.[0] ?? cwd)
