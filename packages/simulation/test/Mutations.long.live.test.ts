/**
 * Each mutation is detected as a violation of its law, and the same seeds break no law without it. `fixtures/mutation-seeds.json`
 * has the seed that detects each mutation: the search starts there, and goes on where that seed no longer does.
 * `UPDATE_MUTATION_SEEDS=1` searches from the first seed and rewrites the file.
 */
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { allLaws } from "../src/Vocabulary.ts"
import { mutations } from "./AllMutations.ts"
import type { Mutation } from "./mutations.ts"
import { buildMutated, selecting } from "./support/MutatedSimulation.ts"

const root = Path.resolve(import.meta.dirname, "../../..")
const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "colloquy-mutations-"))
const simulation = Path.join(folder, "simulation.mjs")

const seedsFile = Path.join(import.meta.dirname, "fixtures/mutation-seeds.json")
const updates = process.env["UPDATE_MUTATION_SEEDS"] === "1"

/** Seeds after which a mutation counts as undetected. */
const maxSeeds = 6_000

/** How long the search for one mutation may take. */
const maxMs = updates ? 600_000 : 110_000

/** How many of the slowest mutations are named. */
const namedMutations = 5

const titleOf = ({ law, name }: Mutation): string => `${law} is violated when ${name}`

const recorded = JSON.parse(Fs.readFileSync(seedsFile, "utf8")) as Readonly<Record<string, number>>

/** Where the search for each mutation starts. */
const known: typeof recorded = updates ? {} : recorded

/** The seeds that have detected mutations. */
const found = new Map<string, number>()
const durations = new Map<string, number>()

interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the simulation with a mutation, or with none. */
const simulate = (place: number | undefined, args: ReadonlyArray<string>): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [simulation, ...args], {
      env: {
        ...process.env,
        // The compiled functions of the simulation, which all processes share.
        NODE_COMPILE_CACHE: Path.join(folder, "cache"),
        [selecting]: place === undefined ? undefined : String(place),
      },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: maxMs,
    })
    let [stdout, stderr] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.on("error", reject)
    child.on("close", (status) => resolve({ status, stdout, stderr }))
  })

const search = (place: number, mutation: Mutation): Promise<Ended> => {
  const { law, from: first = 0, step = 1 } = mutation
  const from = known[titleOf(mutation)] ?? first
  const seeds = Math.ceil(maxSeeds / step)
  return simulate(
    place,
    ["--from", from, "--step", step, "--seeds", seeds, "--law", law].map(String),
  )
}

const titles = new Set(mutations.map(titleOf))

/** Of mutations that this run did not search for, the seeds remain. */
const writeSeeds = () => {
  const all = { ...recorded, ...Object.fromEntries(found) }
  const lines = Object.entries(all)
    .filter(([title]) => titles.has(title))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  Fs.writeFileSync(seedsFile, `${JSON.stringify(Object.fromEntries(lines), null, 2)}\n`)
}

const printSlowest = () => {
  const lines = [...durations]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, namedMutations)
    .map(([title, ms]) => {
      const [from, seed] = [known[title] ?? "the first", found.get(title) ?? "none"]
      return `${(ms / 1000).toFixed(1).padStart(7)} s  ${title} (searched from seed ${from}, found ${seed})`
    })
  process.stdout.write(`\nThe slowest mutations:\n${lines.join("\n")}\n`)
}

describe("Mutations", () => {
  beforeAll(() => buildMutated(root, mutations, simulation), 60_000)
  afterAll(() => {
    Fs.rmSync(folder, { recursive: true, force: true })
    printSlowest()
  })

  for (const [place, mutation] of mutations.entries()) {
    const title = titleOf(mutation)
    it(
      title,
      async () => {
        const start = performance.now()
        const { status, stderr, stdout } = await search(place, mutation)
        durations.set(title, performance.now() - start)
        const [, seed] = new RegExp(`^seed (\\d+) breaks ${mutation.law}$`, "m").exec(stdout) ?? []
        assert.isDefined(seed, `${stdout}${stderr}`)
        assert.strictEqual(status, 1)
        found.set(title, Number(seed))
      },
      maxMs + 10_000,
    )
  }

  it(
    "no law is violated by the same seeds without a mutation",
    async () => {
      const seeds = [...new Set([...Object.values(known), ...found.values()])].toSorted(
        (one, other) => one - other,
      )
      const { status, stderr, stdout } = await simulate(undefined, ["--only", seeds.join(",")])
      assert.strictEqual(status, 0, `${stdout}${stderr}`)
      assert.match(stdout, new RegExp(`^${seeds.length} runs .* 0 violations`, "m"))
    },
    maxMs + 10_000,
  )

  it("every simulated law has a mutation, and every mutation a title of its own", () => {
    assert.deepStrictEqual(
      new Set(mutations.map(({ law }) => law)),
      new Set(allLaws.map(({ law }) => law)),
    )
    assert.strictEqual(titles.size, mutations.length)
  })

  it("the file of seeds names only mutations that exist", () => {
    if (updates) writeSeeds()
    assert.deepStrictEqual(
      Object.keys(known).filter((title) => !titles.has(title)),
      [],
    )
  })
})
