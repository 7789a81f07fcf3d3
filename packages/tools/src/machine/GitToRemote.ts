/**
 * What a working tree has that no remote knows: the nearest commit that one of them has, and the diff against it, new
 * files included (§3.11). Git sees the repository through a `GitView`, so that nothing the repository configures is run,
 * and it runs read-only and without a network where this machine has a sandbox (L15).
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { FileSystem } from "effect/FileSystem"
import type { Path } from "effect/Path"
import * as OwnProgram from "../process/OwnProgram.ts"
import { overrides } from "./GitConfig.ts"
import * as GitView from "./GitView.ts"
import { OneOffFailed } from "./OneOff.ts"

const timeout = Duration.seconds(5)
const killGrace = Duration.millis(500)
/** More is no diff that anybody reads, or that a client should have to take. */
const maxDiffBytes = 16 * 1024 * 1024
const maxNewFiles = 1000

const fail = (message: string) => new OneOffFailed({ message })

interface Git {
  /** The output of a call that may also exit with one of `codes`; too much of it is a failure. */
  readonly run: (
    args: ReadonlyArray<string>,
    codes?: ReadonlyArray<number>,
  ) => Effect.Effect<string, OneOffFailed>
}

const gitIn = (parts: GitView.GitParts, { directory, root, variables }: GitView.GitView): Git => ({
  run: Effect.fnUntraced(function* (args, codes = [0]) {
    const { exit, stdout } = yield* OwnProgram.run(
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

/** A merge of many branches has many; the nearest is among the first. */
const maxBoundaries = 16

/** The commit with the fewest commits between it and the head. */
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

/** Git would look for changes in a submodule by another git in it, which its configuration controls. */
const diffOptions = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--ignore-submodules=dirty",
  "--submodule=short",
]

const newFiles = Effect.fnUntraced(function* (git: Git): Effect.fn.Return<string, OneOffFailed> {
  const listed = yield* git.run(["ls-files", "--others", "--exclude-standard", "-z"])
  // A directory is listed as a whole only when it holds a repository of its own.
  const paths = listed.split("\0").filter((path) => path !== "" && !path.endsWith("/"))
  if (paths.length > maxNewFiles) {
    return yield* fail(`there are more than ${maxNewFiles} new files`)
  }
  const diffs = yield* Effect.forEach(
    paths,
    // 1 says that the files differ, which they do.
    (path) => git.run(["diff", ...diffOptions, "--no-index", "--", "/dev/null", path], [0, 1]),
    { concurrency: 4 },
  )
  return diffs.join("")
})

/**
 * Fails where there is no repository, no remote, no trustworthy git, or more to tell than 16 MiB.
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
