/**
 * `npm run release:version`: gives all packages the next version, from the changesets, with their changelogs, the
 * constants of the sources that state the version, and the lockfile.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { changesets } from "./Changesets.ts"
import { ReleaseError } from "./ReleaseError.ts"
import { runProgram } from "./RunProgram.ts"
import { manifestIn, root } from "./Workspace.ts"

/** Modules that state the version, and nothing else that looks like it. */
const stating = [
  "packages/cli/src/server/Version.ts",
  "packages/models/src/HttpModel.ts",
  "packages/models/test/HttpModel.test.ts",
  "packages/tools/src/mcp/McpConnection.ts",
]

const versionNow = (): string => manifestIn(join(root, "packages/cli")).version

const state = (file: string, before: string, after: string): void => {
  const path = join(root, file)
  const source = readFileSync(path, "utf8")
  const text = source.replaceAll(before, after)
  if (text === source) {
    throw new ReleaseError(
      `${file}: does not state the version ${before}; expected that of packages/cli`,
    )
  }
  writeFileSync(path, text)
}

const finished = async (command: string, ...args: ReadonlyArray<string>): Promise<void> => {
  const { code, output } = await runProgram(command, args, root)
  if (code !== 0) throw new ReleaseError(`${command} ${args.join(" ")} failed\n${output}`)
}

const nextVersion = async (): Promise<void> => {
  const before = versionNow()
  const { code, output } = await changesets(["version"])
  if (code !== 0) throw new ReleaseError(output)
  const after = versionNow()
  if (after === before) throw new ReleaseError(`no changeset asks for a version after ${before}`)
  for (const file of stating) state(file, before, after)
  await finished("npm", "install", "--package-lock-only", "--ignore-scripts")
  await finished("oxfmt")
  process.stdout.write(`${before} → ${after}. Review the changes and commit them.\n`)
}

try {
  await nextVersion()
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error
  process.stderr.write(`release: ${error.message}\n`)
  process.exitCode = 1
}
