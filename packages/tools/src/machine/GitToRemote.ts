/**
 * What a working tree has that no remote knows: the nearest commit that one of them has, and the diff against it, new
 * files included. Git runs read-only and without a network, since a repository may name filters to run (§3.11,
 * exec-notes §6).
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type OneOff, OneOffFailed, type OneOffSettings, type Parts, start } from "./OneOff.ts"

const timeout = Duration.seconds(5)
/** More is no diff that anybody reads, or that a client should have to take. */
const maxDiffBytes = 16 * 1024 * 1024
const maxNewFiles = 1000

const variables = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  LC_ALL: "C",
}

const quiet = [
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.quotePath=false",
]

const fail = (message: string) => new OneOffFailed({ message })

interface Git {
  /** The output of a call that may also exit with one of `codes`; too much of it is a failure. */
  readonly run: (
    args: ReadonlyArray<string>,
    codes?: ReadonlyArray<number>,
  ) => Effect.Effect<string, OneOffFailed>
}

const gitIn = (parts: Parts, settings: OneOffSettings): Git => ({
  run: Effect.fnUntraced(function* (args, codes = [0]) {
    const what: OneOff = {
      argv: ["git", ...quiet, ...args],
      timeout,
      variables,
      settings,
      maxOutputBytes: 2 * maxDiffBytes,
    }
    const { exit, stdout } = yield* start(parts, what)
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

const diffOptions = ["--no-ext-diff", "--no-textconv", "--no-color"]

const newFiles = Effect.fnUntraced(function* (git: Git): Effect.fn.Return<string, OneOffFailed> {
  const listed = yield* git.run(["ls-files", "--others", "--exclude-standard", "-z"])
  const paths = listed.split("\0").filter((path) => path !== "")
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
 * Fails where there is no repository, no remote, or more to tell than 16 MiB.
 *
 * @param settings.cwd any directory of the working tree; the sandbox is that for reading, unless nothing is confined
 */
export const gitDiffToRemote = Effect.fnUntraced(function* (
  parts: Parts,
  settings: OneOffSettings,
): Effect.fn.Return<{ readonly sha: string; readonly diff: string }, OneOffFailed> {
  const { mode } = settings.sandboxPolicy
  const unconfined = mode === "danger-full-access" || mode === "external-sandbox"
  const reading: OneOffSettings = unconfined
    ? settings
    : { ...settings, sandboxPolicy: { mode: "read-only" } }
  const root = (yield* gitIn(parts, reading).run(["rev-parse", "--show-toplevel"])).trim()
  const git = gitIn(parts, { ...reading, cwd: root })
  const sha = yield* nearestRemoteCommit(git)
  const tracked = yield* git.run(["diff", ...diffOptions, sha])
  return { sha, diff: tracked + (yield* newFiles(git)) }
})
