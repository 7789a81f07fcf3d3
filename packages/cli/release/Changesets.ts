/** Runs `@changesets/cli` where its files are: `packages/cli/release/changesets`. */
import { join } from "node:path"
import { type Outcome, runProgram } from "./RunProgram.ts"

/** Not a dependency of the repository: only who releases needs it. */
const tool = "@changesets/cli@3.0.3"

/** Runs one of its commands that asks nothing. */
export const changesets = (args: ReadonlyArray<string>): Promise<Outcome> =>
  runProgram("npx", ["--yes", tool, ...args], join(import.meta.dirname, "changesets"))
