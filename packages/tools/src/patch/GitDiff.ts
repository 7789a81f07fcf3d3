/**
 * The difference of two texts by `git diff --no-index`, for those that are too different for `UnifiedDiff`. Git sees two
 * files of a directory of its own and no configuration, so that nothing a repository brings along is run.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { CommandRunner } from "../process/CommandRunner.ts"
import * as UnifiedDiff from "./UnifiedDiff.ts"

/** Gives hunks as `UnifiedDiff.hunks` does, always: by jsdiff, by git, or as one replacement. */
export type HunksOf = (before: string, after: string, context: number) => Effect.Effect<string>

/** Git takes milliseconds for 10,000 changed lines (exec-notes §4); without git there is an answer too. */
const timeout = Duration.seconds(2)
const killGrace = Duration.millis(100)
/** What is longer is no difference anybody reads. */
const maxOutputBytes = 16 * 1024 * 1024

const withoutConfiguration = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  HOME: "/nonexistent",
  LC_ALL: "C",
}

const argvOf = (context: number): readonly [string, ...ReadonlyArray<string>] => [
  "git",
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

/** Git names the function behind `@@`; we do not. What comes before the first hunk is about the files. */
const hunksOf = (output: string): string | undefined => {
  const start = output.indexOf("\n@@ ")
  if (start < 0) return undefined
  return output.slice(start + 1).replaceAll(/^(@@ -\S+ \+\S+ @@).*$/gm, "$1")
}

/** `searchPath`: the PATH on which git is looked for. */
export const make = (
  runner: CommandRunner["Service"],
  searchPath: string,
): Effect.Effect<HunksOf, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path

    const run = Effect.fn("GitDiff.run")(function* (
      before: string,
      after: string,
      context: number,
    ) {
      const cwd = yield* files.makeTempDirectoryScoped({ prefix: "colloquy-diff-" })
      yield* files.writeFileString(path.join(cwd, "before"), before)
      yield* files.writeFileString(path.join(cwd, "after"), after)
      const { stdout } = yield* runner.run(
        {
          argv: argvOf(context),
          cwd,
          env: { ...withoutConfiguration, PATH: searchPath },
          inputs: new Map(),
          diesWithParent: false,
        },
        { timeout, killGrace, maxOutputBytes, onOutput: () => Effect.void },
      )
      return stdout.omittedBytes > 0 ? undefined : hunksOf(stdout.text)
    }, Effect.scoped)

    return (before, after, context) => {
      const quick = UnifiedDiff.hunks(before, after, context)
      if (quick !== undefined) return Effect.succeed(quick)
      const whole = (): string => UnifiedDiff.replaced(before, after)
      return run(before, after, context).pipe(
        Effect.map((found) => found ?? whole()),
        // No git, no temporary directory: the difference is coarse then, and still right.
        Effect.catch(() => Effect.sync(whole)),
      )
    }
  })
