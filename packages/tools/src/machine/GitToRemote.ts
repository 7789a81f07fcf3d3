/**
 * Finds what a working tree has that no remote knows: the nearest commit that a remote has, and the diff against it,
 * new files included. Git accesses the repository through a `GitView`, so that nothing the repository configures is
 * run, and it runs read-only and without network where this machine has a sandbox (L15).
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { FileSystem } from "effect/FileSystem"
import type { Path } from "effect/Path"
import * as ServerProgram from "../programs/ServerProgram.ts"
import { overrides } from "./GitConfig.ts"
import * as GitView from "./GitView.ts"
import { OneOffFailed } from "./OneOffCommand.ts"

const timeout = Duration.seconds(5)
const killGrace = Duration.millis(500)
/** A longer diff is useful to no reader, and no client should have to receive it. */
const maxDiffBytes = 16 * 1024 * 1024
const maxNewFiles = 1000

const fail = (message: string) => new OneOffFailed({ message })

interface Git {
  /** Output of a call that may also exit with one of `codes`; fails when the output is too long. */
  readonly run: (
    args: ReadonlyArray<string>,
    codes?: ReadonlyArray<number>,
  ) => Effect.Effect<string, OneOffFailed>
}

const gitIn = (parts: GitView.GitParts, { directory, root, variables }: GitView.GitView): Git => ({
  run: Effect.fnUntraced(function* (args, codes = [0]) {
    const { exit, stdout } = yield* ServerProgram.run(
      parts,
      {
        name: "git",
        args: ["--no-pager", ...overrides, ...args],
        cwd: root,
        variables,
        visible: directory,
      },
      { timeout, killGrace, maxOutputBytes: 2 * maxDiffBytes, onOutput: () => Effect.void },
    ).pipe(Effect.mapError(({ message }) => fail(message)))
    if (exit._tag === "TimedOut") return yield* fail(`git ${args[0]} took too long`)
    if (exit._tag === "Signaled" || !codes.includes(exit.code)) {
      return yield* fail(`git ${args[0]} failed`)
    }
    if (stdout.omittedBytes > 0 || stdout.totalBytes > maxDiffBytes) {
      return yield* fail(`the diff has more than ${maxDiffBytes} bytes`)
    }
    return stdout.text
  }),
})

const lines = (text: string): ReadonlyArray<string> =>
  text.split("\n").filter((line) => line !== "")

/** A merge of many branches has many boundaries; the nearest is among the first. */
const maxBoundaries = 16

/** The commit with the fewest commits between it and HEAD. */
const nearestOf = Effect.fnUntraced(function* (git: Git, boundaries: ReadonlyArray<string>) {
  const distances = yield* Effect.forEach(
    boundaries.slice(0, maxBoundaries),
    (sha) =>
      Effect.map(git.run(["rev-list", "--count", `${sha}..HEAD`]), (count) => ({
        sha,
        distance: Number(count.trim()),
      })),
    { concurrency: 4 },
  )
  return distances.toSorted((a, b) => a.distance - b.distance)[0]?.sha
})

const nearestRemoteCommit = Effect.fnUntraced(function* (
  git: Git,
): Effect.fn.Return<string, OneOffFailed> {
  const remotes = yield* git.run([
    "for-each-ref",
    "--count=1",
    "--format=%(refname)",
    "refs/remotes",
  ])
  if (remotes.trim() === "") return yield* fail("no remote is known")
  const head = (yield* git.run(["rev-parse", "HEAD"])).trim()
  const own = lines(yield* git.run(["rev-list", "--boundary", "HEAD", "--not", "--remotes"]))
  if (own.length === 0) return head
  const boundaries = own.flatMap((line) => (line.startsWith("-") ? [line.slice(1)] : []))
  return (yield* nearestOf(git, boundaries)) ?? (yield* fail("no commit is known to a remote"))
})

/** To look for changes within a submodule git would start another git there, which its configuration controls. */
const diffOptions = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--ignore-submodules=dirty",
  "--submodule=short",
]

const newFiles = Effect.fnUntraced(function* (git: Git): Effect.fn.Return<string, OneOffFailed> {
  const listed = yield* git.run(["ls-files", "--others", "--exclude-standard", "-z"])
  // A directory is listed as a whole only when it contains another repository.
  const paths = listed.split("\0").filter((path) => path !== "" && !path.endsWith("/"))
  if (paths.length > maxNewFiles) {
    return yield* fail(`there are more than ${maxNewFiles} new files`)
  }
  const diffs = yield* Effect.forEach(
    paths,
    // Exit code 1 means that the files differ, which they do.
    (path) => git.run(["diff", ...diffOptions, "--no-index", "--", "/dev/null", path], [0, 1]),
    { concurrency: 4 },
  )
  return diffs.join("")
})

/**
 * The nearest commit that a remote knows, and the diff against it. Fails where there is no repository, no remote, no
 * trustworthy git, or a diff of more than 16 MiB.
 *
 * @param cwd any directory of the working tree, absolute
 */
export const gitDiffToRemote = Effect.fn("GitToRemote.gitDiffToRemote")(function* (
  parts: GitView.GitParts,
  cwd: string,
): Effect.fn.Return<
  { readonly sha: string; readonly diff: string },
  OneOffFailed,
  FileSystem | Path
> {
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const git = gitIn(parts, yield* GitView.make(parts, cwd))
      const sha = yield* nearestRemoteCommit(git)
      const tracked = yield* git.run(["diff", ...diffOptions, sha])
      return { sha, diff: tracked + (yield* newFiles(git)) }
    }),
  )
})
