import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Mutation, mutations } from "./mutations.ts"

const root = Path.resolve(import.meta.dirname, "../../../..")

/** A copy of the source of all packages; other dependencies are linked from the repository. */
const tree = Path.join(Fs.realpathSync(Os.tmpdir()), `colloquy-fuzz-mutations-${process.pid}`)
const packages = Fs.readdirSync(Path.join(root, "packages")).filter((name) =>
  Fs.existsSync(Path.join(root, "packages", name, "src")),
)
const parts = ["src", "fuzz", "package.json", "test/fixtures"]

/** All runs load the same modules but one. */
const sharedCache = { ...process.env, NODE_COMPILE_CACHE: Path.join(tree, "cache") }

/** Inputs after which a mutation counts as undetected. */
const maxInputs = 2_000

const copyTree = () => {
  const modules = Path.join(tree, "node_modules")
  Fs.mkdirSync(Path.join(modules, "@colloquy"), { recursive: true })
  for (const name of Fs.readdirSync(Path.join(root, "node_modules"))) {
    if (name === "@colloquy" || name === "colloquy") continue
    Fs.symlinkSync(Path.join(root, "node_modules", name), Path.join(modules, name))
  }
  for (const room of packages) {
    const folder = Path.join("packages", room)
    for (const part of parts) {
      const from = Path.join(root, folder, part)
      if (Fs.existsSync(from)) Fs.cpSync(from, Path.join(tree, folder, part), { recursive: true })
    }
    Fs.symlinkSync(Path.join(tree, folder), Path.join(modules, "@colloquy", room))
  }
}

const fuzz = (edge: string) =>
  spawnSync(
    process.execPath,
    [
      Path.join(tree, "packages/cli/fuzz/main.ts"),
      "--edge",
      edge,
      "--inputs",
      String(maxInputs),
      "--findings",
      "1",
    ],
    { encoding: "utf8", timeout: 120_000, env: sharedCache },
  )

const mutated = ({ edge, file, find, replace }: Mutation) => {
  const path = Path.join(tree, file)
  const source = Fs.readFileSync(path, "utf8")
  assert.strictEqual(source.split(find).length, 2, `\`${find}\` occurs once in ${file}`)
  Fs.writeFileSync(
    path,
    source.replace(find, () => replace),
  )
  try {
    return fuzz(edge)
  } finally {
    Fs.writeFileSync(path, source)
  }
}

describe("Fuzz: mutations", () => {
  beforeAll(copyTree)
  afterAll(() => {
    Fs.rmSync(tree, { recursive: true, maxRetries: 10, force: true })
  })

  for (const mutation of mutations) {
    it(`${mutation.law} is violated when ${mutation.name}`, () => {
      const { status, stderr, stdout } = mutated(mutation)
      assert.include(stdout, `${mutation.law} is broken at ${mutation.edge}`, stderr)
      assert.match(stdout, /shortest inputs?/)
      assert.strictEqual(status, 1)
    }, 120_000)
  }
})
