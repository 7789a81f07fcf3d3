/**
 * A view of a repository through which the server's own `git` can read it without being controlled by it: a git
 * directory made by the server, in which objects, references and index are links to the repository's, and the
 * configuration is written anew (`GitConfig`). Filters, external diffs, monitors, hooks, remotes and included files are
 * configuration, hence absent. Only a `.git` makes a repository; bare ones are not found. Part of L15.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import { gitVariables } from "../programs/GitEnvironment.ts"
import * as ServerProgram from "../programs/ServerProgram.ts"
import * as PrivateDirectory from "../programs/PrivateDirectory.ts"
import { configText, readArgs } from "./GitConfig.ts"
import { OneOffFailed } from "./OneOffCommand.ts"

/** What a view needs. */
export interface GitParts extends ServerProgram.ServerProgramServices {
  /** Absolute path of a directory that the sandbox hides from commands; the git directories are created in it. */
  readonly hidden: string
}

/** A view of one repository. */
export interface GitView {
  /** Root of the working tree. */
  readonly root: string
  /** The git directory that was created. */
  readonly directory: string
  /** Environment variables with which git has to be started. */
  readonly variables: Readonly<Record<string, string>>
}

interface Repository {
  readonly root: string
  /** Its `.git`, or the target of the `.git` file of a worktree or submodule. */
  readonly own: string
  /** The directory that a worktree shares with others; otherwise `own`. */
  readonly common: string
}

/** A `.git` file, `commondir` and `HEAD` contain one short line. */
const maxLineBytes = 16_384
const configLimits = {
  timeout: Duration.seconds(5),
  killGrace: Duration.millis(500),
  maxOutputBytes: 64 * 1024,
  onOutput: () => Effect.void,
}

/** Parts of a repository that are only data, by the directory that contains them. */
const linkedOfCommon = ["objects", "refs", "packed-refs", "reftable", "shallow"]
const linkedOfOwn = ["index"]

const fail = (message: string) => new OneOffFailed({ message })

const unreadable = ({ message }: PlatformError): OneOffFailed =>
  fail(`the repository cannot be read: ${message}`)

/** The first line of a small regular file; undefined when there is none. */
const lineOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.orElseSucceed(fs.stat(file), () => undefined)
  if (info?.type !== "File" || Number(info.size) > maxLineBytes) return undefined
  return (yield* fs.readFileString(file)).split("\n", 1)[0]?.trim()
})

const repositoryAt = Effect.fnUntraced(function* (root: string) {
  const path = yield* Path.Path
  const dotGit = path.join(root, ".git")
  const line = yield* lineOf(dotGit)
  const own = line?.startsWith("gitdir:") === true ? line.slice("gitdir:".length).trim() : undefined
  const directory = own === undefined ? dotGit : path.resolve(root, own)
  if ((yield* lineOf(path.join(directory, "HEAD"))) === undefined) return undefined
  const shared = yield* lineOf(path.join(directory, "commondir"))
  const common = shared === undefined ? directory : path.resolve(directory, shared)
  return { root, own: directory, common } satisfies Repository
})

/** The repository whose working tree contains `cwd`. */
const find = Effect.fnUntraced(function* (cwd: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (let at = yield* fs.realPath(cwd); ; at = path.dirname(at)) {
    const found = yield* repositoryAt(at)
    if (found !== undefined) return found
    if (path.dirname(at) === at) return yield* fail(`${cwd} is in no working tree of git`)
  }
})

const link = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  from: string,
  directory: string,
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const name of names) {
    const target = path.join(from, name)
    if (yield* fs.exists(target)) yield* fs.symlink(target, path.join(directory, name))
  }
})

/** Creates the git directory; it is removed when the scope closes. Fails where `cwd` is in no working tree. */
export const make = Effect.fn("GitView.make")(
  function* (parts: GitParts, cwd: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const { common, own, root } = yield* find(cwd)
    const directory = yield* PrivateDirectory.make(parts.hidden)
    const { stdout } = yield* ServerProgram.run(
      parts,
      {
        name: "git",
        args: readArgs(path.join(common, "config")),
        cwd: directory,
        variables: { ...gitVariables, GIT_DIR: "/dev/null" },
      },
      configLimits,
    ).pipe(Effect.mapError(({ message }) => fail(message)))
    yield* fs.writeFileString(path.join(directory, "config"), configText(stdout.text))
    // Git would take a link for a reference of that name.
    yield* fs.writeFileString(path.join(directory, "HEAD"), `${yield* lineOf(`${own}/HEAD`)}\n`)
    const names = yield* fs.readDirectory(own)
    const indexes = names.filter((name) => name.startsWith("sharedindex."))
    yield* link(linkedOfCommon, common, directory)
    yield* link([...linkedOfOwn, ...indexes], own, directory)
    yield* fs.makeDirectory(path.join(directory, "info"))
    yield* link(["info/exclude"], common, directory)
    const variables = { ...gitVariables, GIT_DIR: directory, GIT_WORK_TREE: root }
    return { root, directory, variables } satisfies GitView
  },
  Effect.catchTag("PlatformError", (error) => Effect.fail(unreadable(error))),
)
