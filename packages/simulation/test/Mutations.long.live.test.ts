import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { allLaws } from "../src/Vocabulary.ts"
import { type Mutation, mutations as coreMutations } from "./mutations.ts"
import { clusterMutations } from "./mutations.cluster.ts"
import { nodeMutations } from "./mutations.nodes.ts"
import { statelessMutations } from "./mutations.stateless.ts"
import { storageMutations } from "./mutations.storage.ts"
import { threadMutations } from "./mutations.threads.ts"
import { wireMutations } from "./mutations.wire.ts"

const mutations: ReadonlyArray<Mutation> = [
  ...coreMutations,
  ...storageMutations,
  ...wireMutations,
  ...statelessMutations,
  ...threadMutations,
  ...nodeMutations,
  ...clusterMutations,
]

const root = Path.resolve(import.meta.dirname, "../../..")

/** A copy of the packages that mutations change and of the simulation; all other packages are linked from the repository. */
const tree = Path.join(Fs.realpathSync(Os.tmpdir()), `colloquy-mutations-${process.pid}`)
const copied = ["cluster", "core", "server", "simulation", "store-sql", "testing"]

/** Seeds after which a mutation counts as undetected. Most are detected within a few; one needs four thousand. */
const seeds = 6_000

const copyTree = () => {
  const modules = Path.join(tree, "node_modules/@colloquy")
  Fs.mkdirSync(modules, { recursive: true })
  for (const room of copied) {
    for (const part of ["src", "package.json"]) {
      const path = Path.join("packages", room, part)
      Fs.cpSync(Path.join(root, path), Path.join(tree, path), { recursive: true })
    }
    Fs.symlinkSync(Path.join(tree, "packages", room), Path.join(modules, room))
  }
  for (const room of Fs.readdirSync(Path.join(root, "packages"))) {
    if (copied.includes(room)) continue
    Fs.symlinkSync(Path.join(root, "packages", room), Path.join(modules, room))
  }
  Fs.symlinkSync(Path.join(root, "node_modules/effect"), Path.join(tree, "node_modules/effect"))
}

const simulate = ({ from = 0, law, step = 1 }: Mutation) => {
  const main = Path.join(tree, "packages/simulation/src/main.ts")
  const selection = ["--from", String(from), "--step", String(step)]
  const options = ["--seeds", String(Math.ceil(seeds / step)), ...selection, "--law", law]
  return spawnSync(process.execPath, [main, ...options], { encoding: "utf8", timeout: 110_000 })
}

const mutated = (mutation: Mutation) => {
  const { file, find, replace } = mutation
  const path = Path.join(tree, file)
  const source = Fs.readFileSync(path, "utf8")
  assert.strictEqual(source.split(find).length, 2, `\`${find}\` occurs once in ${file}`)
  Fs.writeFileSync(
    path,
    source.replace(find, () => replace),
  )
  try {
    return simulate(mutation)
  } finally {
    Fs.writeFileSync(path, source)
  }
}

describe("Mutations", () => {
  beforeAll(copyTree)
  afterAll(() => {
    Fs.rmSync(tree, { recursive: true, force: true })
  })

  for (const mutation of mutations) {
    it(`${mutation.law} is violated when ${mutation.name}`, () => {
      const { status, stdout, stderr } = mutated(mutation)
      assert.match(stdout, new RegExp(`^seed \\d+ breaks ${mutation.law}$`, "m"), stderr)
      assert.strictEqual(status, 1)
    }, 120_000)
  }

  it("every simulated law has a mutation", () => {
    assert.deepStrictEqual(
      new Set(mutations.map(({ law }) => law)),
      new Set(allLaws.map(({ law }) => law)),
    )
  })
})
