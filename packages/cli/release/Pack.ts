/** Packs the staged packages with npm, and has the tarballs checked by `publint` and `@arethetypeswrong/cli`. */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { StagedManifest } from "./Manifests.ts"
import { ReleaseError } from "./ReleaseError.ts"
import { runProgram } from "./RunProgram.ts"
import type { StagedPackage } from "./Stage.ts"
import { releaseFolder, root } from "./Workspace.ts"

/** A packed package. */
export interface Tarball {
  /** Absolute path. */
  readonly path: string
  readonly manifest: StagedManifest
  readonly bytes: number
  readonly files: number
}

/** Versions with which the tarballs were checked. */
const tools = { publint: "0.3.25", "@arethetypeswrong/cli": "0.18.5" }

/** Programs that run at once: each loads a compiler. */
const checksAtOnce = 2

interface Packed {
  readonly filename: string
  readonly size: number
  readonly entryCount: number
}

/** Runs `one` for all, at most `atOnce` at the same time; the results are in their order. */
const eachOf = async <A, B>(
  all: ReadonlyArray<A>,
  atOnce: number,
  one: (value: A) => Promise<B>,
): Promise<ReadonlyArray<B>> => {
  const left = all.map((value, index) => [value, index] as const)
  const results: Array<B> = []
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      results[next[1]] = await one(next[0])
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}

const packOne = async ({ folder, manifest }: StagedPackage, into: string): Promise<Tarball> => {
  const { code, output, stdout } = await runProgram(
    "npm",
    ["pack", "--json", "--ignore-scripts", "--pack-destination", into],
    folder,
  )
  if (code !== 0) throw new ReleaseError(`${manifest.name}: npm pack failed\n${output}`)
  // npm 11 prints a list, npm 12 an object by the names of the packages.
  const printed = JSON.parse(stdout) as ReadonlyArray<Packed> | Readonly<Record<string, Packed>>
  const [packed] = Object.values(printed)
  if (packed === undefined) throw new ReleaseError(`${manifest.name}: npm pack wrote no tarball`)
  return {
    path: join(into, packed.filename),
    manifest,
    bytes: packed.size,
    files: packed.entryCount,
  }
}

/** Packs staged packages into `tarballs` of a folder, by default that of releases. */
export const pack = (
  staged: ReadonlyArray<StagedPackage>,
  folder = releaseFolder,
): Promise<ReadonlyArray<Tarball>> => {
  const into = join(folder, "tarballs")
  rmSync(into, { recursive: true, force: true })
  mkdirSync(into, { recursive: true })
  return eachOf(staged, checksAtOnce, (one) => packOne(one, into))
}

const hasTypes = ({ manifest }: Tarball): boolean =>
  Object.values(manifest.exports ?? {}).some((one) => typeof one === "object")

/** Command lines of the checks of a tarball. A package without modules has no types to check. */
const checksOf = (tarball: Tarball): ReadonlyArray<ReadonlyArray<string>> => [
  [`publint@${tools.publint}`, tarball.path, "--strict"],
  ...(hasTypes(tarball)
    ? // CommonJS and the resolution of Node 10 know no `exports`: these packages are ESM for Node 22 and bundlers.
      [
        [
          `@arethetypeswrong/cli@${tools["@arethetypeswrong/cli"]}`,
          tarball.path,
          "--profile",
          "esm-only",
          "--no-emoji",
          "--no-color",
        ],
      ]
    : []),
]

/** Resolves with the faults that the tools report, none when all tarballs are as they should be. */
export const check = async (tarballs: ReadonlyArray<Tarball>): Promise<ReadonlyArray<string>> => {
  const all = tarballs.flatMap((tarball) =>
    checksOf(tarball).map((args) => ({ args, name: tarball.manifest.name })),
  )
  const faults = await eachOf(all, checksAtOnce, async ({ args, name }) => {
    const { code, output } = await runProgram("npx", ["--yes", ...args], root)
    const isClean = code === 0 && !/\b(?:Suggestions|Warnings|Errors):/.test(output)
    return isClean ? [] : [`${name}: ${args[0]}\n${output}`]
  })
  return faults.flat()
}
