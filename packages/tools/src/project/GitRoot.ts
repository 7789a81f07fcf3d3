/**
 * Where the repository of a directory begins: the nearest ancestor with a `.git`, be it a directory or a file. An empty
 * directory of that name is none: a sandbox puts one wherever a command could make a repository of its own.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"

/** What may not be looked into is none. */
const isRepository = Effect.fnUntraced(
  function* (dotGit: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const isWhole = Effect.orElseSucceed(fs.exists(path.join(dotGit, "HEAD")), () => false)
    return (yield* isWhole) || (yield* fs.stat(dotGit)).type === "File"
  },
  Effect.orElseSucceed(() => false),
)

/** `cwd` and its ancestors up to the root of the repository, that first; undefined where there is none. */
export const repositoryDirectories = Effect.fnUntraced(function* (cwd: string) {
  const path = yield* Path.Path
  const below: Array<string> = []
  for (let at = path.resolve(cwd); ; at = path.dirname(at)) {
    below.unshift(at)
    if (yield* isRepository(path.join(at, ".git"))) return below
    if (path.dirname(at) === at) return undefined
  }
})

/** The root of the repository, else `cwd`. */
export const gitRoot = (
  cwd: string,
): Effect.Effect<string, never, FileSystem.FileSystem | Path.Path> =>
  Effect.map(repositoryDirectories(cwd), (directories) => directories?.[0] ?? cwd)
