/**
 * Which functions of a bundle a process calls until it has answered `initialize`, found by running the bundle. It runs in a
 * folder of its own, with a configuration that names a provider, and ends where it would load another file.
 */
import { type SpawnSyncReturns, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import type { FunctionRange } from "./EagerFunctions.ts"

/** The report of V8 on one file. */
interface FileCoverage {
  readonly url: string
  readonly functions: ReadonlyArray<{
    readonly ranges: ReadonlyArray<{
      readonly startOffset: number
      readonly endOffset: number
      readonly count: number
    }>
  }>
}

/** A process to run: the file that exports `main`, the words of its command line, and what it reads from stdin. */
export interface Run {
  readonly entry: string
  readonly args: ReadonlyArray<string>
  readonly input: string
}

const configuration = `model = "gpt-5"
model_provider = "local"
[model_providers.local]
name = "local"
base_url = "http://127.0.0.1:1/v1"
wire_api = "responses"
`

/** A process takes a tenth of a second; a machine that is busy needs more. */
const maxRunMs = 60_000

const check = ({ args }: Run, { error, status, stderr, stdout }: SpawnSyncReturns<string>) => {
  if (error !== undefined) throw error
  if (status !== 0 || !stdout.includes('"result"')) {
    throw new Error(`\`${args.join(" ")}\` does not answer \`initialize\`: ${stdout}${stderr}`)
  }
}

const calledIn = (folder: string): ReadonlyMap<string, ReadonlyArray<FunctionRange>> => {
  const files = readdirSync(folder).flatMap((name) => {
    const report = JSON.parse(readFileSync(join(folder, name), "utf8")) as {
      readonly result: ReadonlyArray<FileCoverage>
    }
    return report.result
  })
  return new Map(
    files.map(({ functions, url }) => [
      basename(url),
      functions.flatMap(({ ranges: [range] }) =>
        range === undefined || range.count === 0
          ? []
          : [{ start: range.startOffset, end: range.endOffset }],
      ),
    ]),
  )
}

/**
 * The called functions of each file, by its name. `files` has the code of all files by their names. Throws if a process
 * does not answer its input with a result and then load a file that is not in `started`.
 */
export const calledFunctions = (
  files: ReadonlyMap<string, string>,
  started: ReadonlySet<string>,
  run: Run,
): ReadonlyMap<string, ReadonlyArray<FunctionRange>> => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-build-"))
  try {
    const [coverage, dist] = [join(folder, "coverage"), join(folder, "dist")]
    mkdirSync(dist)
    writeFileSync(join(folder, "config.toml"), configuration)
    for (const [name, code] of files) {
      writeFileSync(join(dist, name), started.has(name) ? code : "process.exit(0)")
    }
    const main = `import(${JSON.stringify(`./dist/${run.entry}`)}).then(({ main }) => main())`
    writeFileSync(join(folder, "run.mjs"), main)
    const ended = spawnSync(process.execPath, [join(folder, "run.mjs"), ...run.args], {
      cwd: folder,
      encoding: "utf8",
      input: run.input,
      timeout: maxRunMs,
      env: { NODE_V8_COVERAGE: coverage, COLLOQUY_HOME: folder, CODEX_HOME: folder, HOME: folder },
    })
    check(run, ended)
    return calledIn(coverage)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
