/**
 * The diff of two texts by `git diff --no-index`, for texts that are too different for `UnifiedDiff`. Git gets two
 * files, no repository and no configuration, so that nothing a repository configures is run (L15).
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { gitVariables } from "../programs/GitEnvironment.ts"
import * as ServerProgram from "../programs/ServerProgram.ts"
import * as PrivateDirectory from "../programs/PrivateDirectory.ts"
import * as UnifiedDiff from "./UnifiedDiff.ts"

/** Returns hunks like `UnifiedDiff.hunks`, but always: by jsdiff, by git, or as one replacement. */
export type HunksOf = (before: string, after: string, context: number) => Effect.Effect<string>

/** Git takes milliseconds for 10,000 changed lines. After a timeout the result is one replacement. */
const timeout = Duration.seconds(2)
const killGrace = Duration.millis(100)
/** A longer diff is useful to no reader. */
const maxOutputBytes = 16 * 1024 * 1024

/** Names no repository: git would otherwise search one in the directory of the files and above it. */
const variables = { ...gitVariables, GIT_DIR: "/dev/null" }

const argsOf = (context: number): ReadonlyArray<string> => [
  "--no-pager",
  "diff",
  "--no-index",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--text",
  `--unified=${context}`,
  "--",
  "before",
  "after",
]

/**
 * Removes the file headers, and the name of the function that git writes after `@@`, as `UnifiedDiff` writes neither.
 */
const hunksOf = (output: string): string | undefined => {
  const start = output.indexOf("\n@@ ")
  if (start < 0) return undefined
  return output.slice(start + 1).replaceAll(/^(@@ -\S+ \+\S+ @@).*$/gm, "$1")
}

const runGit = Effect.fn("GitDiff.run")(function* (
  parts: ServerProgram.ServerProgramServices,
  texts: { readonly before: string; readonly after: string },
  context: number,
  directory: string,
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const cwd = yield* PrivateDirectory.make(directory)
  yield* files.writeFileString(path.join(cwd, "before"), texts.before)
  yield* files.writeFileString(path.join(cwd, "after"), texts.after)
  const { stdout } = yield* ServerProgram.run(
    parts,
    { name: "git", args: argsOf(context), cwd, variables },
    { timeout, killGrace, maxOutputBytes, onOutput: () => Effect.void },
  )
  return stdout.omittedBytes > 0 ? undefined : hunksOf(stdout.text)
}, Effect.scoped)

/**
 * Returns the function that compares two texts.
 *
 * @param hidden absolute path of a directory that the sandbox hides from commands. Without one, or without a trustworthy
 *   git, a diff that takes jsdiff too long is one replacement of everything.
 */
export const make = (
  parts: ServerProgram.ServerProgramServices,
  hidden: string | undefined,
): Effect.Effect<HunksOf, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
    return (before, after, context) => {
      const quick = UnifiedDiff.hunks(before, after, context)
      if (quick !== undefined) return Effect.succeed(quick)
      const whole = (): string => UnifiedDiff.replaced(before, after)
      if (hidden === undefined) return Effect.sync(whole)
      return runGit(parts, { before, after }, context, hidden).pipe(
        Effect.map((found) => found ?? whole()),
        // One replacement is coarse, but correct.
        Effect.catch((error) =>
          Effect.as(Effect.logDebug("git gives no difference", error.message), whole()),
        ),
        Effect.provide(services),
      )
    }
  })
