/**
 * The packages as a user gets them: installed from their tarballs into a folder with nothing else, then compiled, run,
 * bundled and tested with the tools that users have. The programs are those of the folder `programs`.
 */
import { assert, it } from "@effect/vitest"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, delimiter, dirname, join, resolve } from "node:path"
import { afterAll, beforeAll, describe } from "vitest"
import { check, pack, type Tarball } from "../release/Pack.ts"
import { stage } from "../release/Stage.ts"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { blocksOf, commandsOf } from "../test/support/CodeBlocks.ts"
import { programsOf } from "../test/support/ShownPrograms.ts"
import { type Finished, run } from "./Program.ts"

const root = resolve(import.meta.dirname, "../../..")
const programs = join(import.meta.dirname, "programs")

const maxMs = 300_000

const { devDependencies: ours } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly devDependencies: Readonly<Record<string, string>>
}

/** What users have besides the packages; where this repository uses it as well, in the same version. */
const tools = {
  effect: "4.1.0",
  esbuild: "0.28.2",
  vite: "8.3.8",
  ...Object.fromEntries(
    ["typescript", "vitest", "@effect/vitest", "@types/node"].map((name) => [name, ours[name]]),
  ),
}

/** Every flag that makes the compiler stricter, declarations of the packages included. */
const strictest = {
  target: "es2024",
  strict: true,
  allowUnreachableCode: false,
  allowUnusedLabels: false,
  erasableSyntaxOnly: true,
  exactOptionalPropertyTypes: true,
  forceConsistentCasingInFileNames: true,
  isolatedModules: true,
  noFallthroughCasesInSwitch: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  noUncheckedSideEffectImports: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  noEmit: true,
  allowImportingTsExtensions: true,
  types: [],
}

const resolutions = [
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
]

const folder = mkdtempSync(join(tmpdir(), "colloquy-packages-"))
let tarballs: ReadonlyArray<Tarball> = []

/** A program of somebody who installed packages, in a folder with nothing else. */
interface Project {
  readonly name: string
  /** Names of the packages of this repository that it installs; undefined: all of them. */
  readonly packages?: ReadonlyArray<string>
  /** Its files, below `programs`. */
  readonly files: string
  readonly main: string
  /** What `main` prints. */
  readonly prints: RegExp
}

const projects: ReadonlyArray<Project> = [
  {
    name: "all packages",
    files: "packages",
    main: "run.ts",
    prints: /^session_configured .* task_complete$/m,
  },
  {
    name: "colloquy alone",
    packages: ["colloquy"],
    files: "colloquy",
    main: "hello.ts",
    prints: /It received: Hello!/,
  },
]

const folderOf = ({ files }: Project): string => join(folder, "projects", files)

const within = async (
  cwd: string,
  command: string,
  ...args: ReadonlyArray<string>
): Promise<Finished> => {
  const env = { ...process.env, HOME: folder, npm_config_loglevel: "error" } as Record<
    string,
    string
  >
  const path = [join(cwd, "node_modules/.bin"), dirname(process.execPath), env["PATH"]].join(
    delimiter,
  )
  return run({ command, args, cwd, env: { ...env, PATH: path } }, maxMs)
}

const succeed = async (cwd: string, command: string, ...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await within(cwd, command, ...args)
  assert.strictEqual(code, 0, `${command} ${args.join(" ")}\n${stdout}${stderr}`)
  return stdout
}

/** An empty folder with these packages installed, and nothing of the workspace. */
const install = async (into: string, packages: ReadonlyArray<string>): Promise<void> => {
  mkdirSync(into, { recursive: true })
  writeFileSync(join(into, "package.json"), '{ "private": true, "type": "module" }\n')
  await succeed(into, "npm", "install", "--no-audit", "--no-fund", ...packages)
}

const pathsOf = (names: ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  tarballs
    .filter(({ manifest }) => names === undefined || names.includes(manifest.name))
    .map(({ path }) => path)

beforeAll(async () => {
  buildIfMissing()
  tarballs = await pack(await stage(folder), folder)
  const versions = Object.entries(tools).map(([name, version]) => `${name}@${version}`)
  for (const project of projects) {
    await install(folderOf(project), [...pathsOf(project.packages), ...versions])
    cpSync(join(programs, project.files), folderOf(project), { recursive: true })
  }
}, 2 * maxMs)

// Thousands of files.
afterAll(() => rm(folder, { recursive: true, force: true }), maxMs)

interface TestReport {
  readonly testResults: ReadonlyArray<{
    readonly startTime: number
    readonly endTime: number
    readonly status: string
  }>
}

/** Runs the tests of the programs. Resolves with the milliseconds that the slowest file took. */
const testMs = async (cwd: string): Promise<number> => {
  const report = join(cwd, "out/report.json")
  await succeed(cwd, "vitest", "run", "--reporter=json", `--outputFile=${report}`)
  const { testResults }: TestReport = JSON.parse(readFileSync(report, "utf8"))
  assert.isNotEmpty(testResults)
  assert.isTrue(testResults.every(({ status }) => status === "passed"))
  return Math.max(...testResults.map(({ endTime, startTime }) => endTime - startTime))
}

describe("the packages from their tarballs", () => {
  it(
    "publint and arethetypeswrong report nothing",
    async () => {
      assert.deepStrictEqual(await check(tarballs), [])
    },
    maxMs,
  )

  it("contain no TypeScript source and no test", async () => {
    for (const { path } of tarballs) {
      const files = (await succeed(folder, "tar", "--list", "--file", path)).trim().split("\n")
      assert.deepStrictEqual(
        files.filter((file) => /(?<!\.d)\.ts$|\.test\.|\/(?:test|src)\//.test(file)),
        [],
      )
    }
  })
})

describe.each(projects)("a program with $name", (project) => {
  const cwd = folderOf(project)
  const { main, prints } = project

  it("has one copy of Effect", async () => {
    const copies = await succeed(cwd, "npm", "ls", "--all", "--parseable", "effect")
    assert.strictEqual(new Set(copies.trim().split("\n")).size, 1, copies)
  })

  it.each(resolutions)("compiles with every strict flag: $moduleResolution", async (resolution) => {
    const name = `tsconfig.${resolution.moduleResolution}.json`
    writeFileSync(
      join(cwd, name),
      JSON.stringify({ compilerOptions: { ...strictest, ...resolution }, include: ["*.ts"] }),
    )
    await succeed(cwd, "tsc", "--project", name)
  })

  it("runs with plain Node", async () => {
    assert.match(await succeed(cwd, "node", main), prints)
  })

  it("runs as a bundle of esbuild", async () => {
    const out = ["--platform=node", "--format=esm", "--outfile=out/esbuild.mjs"]
    await succeed(cwd, "esbuild", main, "--bundle", ...out)
    assert.match(await succeed(cwd, "node", "out/esbuild.mjs"), prints)
  })

  it("runs as a bundle of Vite", async () => {
    writeFileSync(
      join(cwd, "vite.config.js"),
      `export default { ssr: { noExternal: true }, build: { ssr: '${main}', outDir: 'out/vite' } }\n`,
    )
    await succeed(cwd, "vite", "build")
    const built = `out/vite/${main.replace(/\.ts$/, ".js")}`
    assert.match(await succeed(cwd, "node", built), prints)
  })

  it("passes its tests", async () => {
    process.stdout.write(`${project.name}: the slowest test file took ${await testMs(cwd)} ms\n`)
  })

  it("reports a second copy of Effect", async () => {
    const second = join(cwd, "second")
    cpSync(join(cwd, "node_modules/effect"), join(second, "node_modules/effect"), {
      recursive: true,
    })
    cpSync(join(programs, project.files), second, { recursive: true })
    const { code, stderr } = await within(second, "node", main)
    assert.strictEqual(code, 1)
    assert.include(stderr, 'two copies of the package "effect" are loaded')
  })
})

/** The agent of the page: from the tarball to its last command, those of the clone and of a client left out. */
const agentSteps = (page: string): string =>
  page.slice(page.indexOf("In an empty folder:"), page.indexOf("## Give a client"))

it(
  "the page that gets one started leads from an empty folder to an answer and to a passing test",
  async () => {
    const started = join(folder, "started")
    mkdirSync(started)
    const page = agentSteps(readFileSync(join(root, "packages/docs/get-started.md"), "utf8"))
    for (const path of programsOf(page)) cpSync(join(root, path), join(started, basename(path)))
    const printed: Array<string> = []
    for (const command of blocksOf(page).flatMap((block) =>
      block.language === "sh" ? commandsOf(block) : [],
    )) {
      const path = pathsOf(["colloquy"])[0] ?? ""
      const own = command.replace(/DIR\/\.release\/tarballs\/colloquy-[\d.]+\.tgz/, path)
      const [program = "", ...args] = own.split(" ")
      printed.push(await succeed(started, program, ...args))
    }
    assert.include(printed.join(""), "It received: Hello!")
    assert.match(printed.at(-1) ?? "", /1 passed/)
  },
  maxMs,
)

it(
  "the tarball of colloquy alone runs the demo in an empty folder",
  async () => {
    const alone = join(folder, "alone")
    await install(alone, pathsOf(["colloquy"]))
    assert.include(await succeed(alone, "npx", "colloquy", "demo"), "All turns completed.")
    const search = `node_modules/@vscode/ripgrep-${process.platform}-${process.arch}`
    assert.isTrue(existsSync(join(alone, search)))
  },
  maxMs,
)
