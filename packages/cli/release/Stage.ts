/**
 * Writes the packages as they are published, each into a separate folder below `.release/packages`: compiled modules with
 * declarations and source maps, no TypeScript source and no test. The repository itself is not changed.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { buildFolder, compile } from "./Compile.ts"
import { writeLibrary } from "./Library.ts"
import { libraryManifest, programManifest, type StagedManifest } from "./Manifests.ts"
import { type PublicModule, readme } from "./Readmes.ts"
import { ReleaseError } from "./ReleaseError.ts"
import { manifestIn, type Package, packages, published, releaseFolder, root } from "./Workspace.ts"

/** A package in its folder, ready to be packed. */
export interface StagedPackage {
  readonly folder: string
  readonly manifest: StagedManifest
}

/** Absolute path of the folder with the staged packages. */
const stagingFolder = join(releaseFolder, "packages")

/** The package of the program, which is bundled. */
const program = "colloquy"

/** Folder of the compiled library in the package of the program. */
const library = "lib"

const folderOf = (name: string): string => join(stagingFolder, name.replace(/^@colloquy\//, ""))

/** The bundle finds the program of this package by the name of the package for the platform. */
const programsOf = ({ manifest }: Package): Readonly<Record<string, string>> => {
  const name = "@vscode/ripgrep"
  const { optionalDependencies, version } = manifestIn(join(root, "node_modules", name))
  if (manifest.dependencies?.[name] !== version || optionalDependencies === undefined) {
    throw new ReleaseError(
      `${manifest.name}: dependencies["${name}"] is ${manifest.dependencies?.[name]}; expected the installed ${version}`,
    )
  }
  return optionalDependencies
}

const publicModules = ({ folder, manifest }: Package): ReadonlyArray<PublicModule> =>
  Object.entries(manifest.exports ?? {}).flatMap(([key, target]) =>
    typeof target === "string" && target.endsWith(".ts") && !target.includes("*")
      ? [{ subpath: key.slice(1), source: readFileSync(join(folder, target), "utf8") }]
      : [],
  )

const stageProgram = (of: Package, all: ReadonlyArray<Package>): StagedPackage => {
  const into = folderOf(of.manifest.name)
  for (const name of of.manifest.files ?? []) {
    const from = join(of.folder, name)
    if (!existsSync(from)) {
      throw new ReleaseError(
        `${of.manifest.name}: ${name} is missing; expected it from npm run build`,
      )
    }
    cpSync(from, join(into, name), { recursive: true })
  }
  const { imported, modules } = writeLibrary({
    packages: all,
    of,
    build: buildFolder,
    into,
    folder: library,
  })
  const programs = programsOf(of)
  return {
    folder: into,
    manifest: programManifest(of.manifest, of.room, { library, modules, imported, programs }),
  }
}

const stageLibrary = (of: Package, released: Readonly<Record<string, string>>): StagedPackage => {
  const folder = folderOf(of.manifest.name)
  const manifest = libraryManifest(of.manifest, of.room, released)
  cpSync(join(buildFolder, of.room, "src"), join(folder, "dist"), { recursive: true })
  return { folder, manifest }
}

/** Compiles and stages every published package anew. Rejects with a `ReleaseError` that names what is missing. */
export const stage = async (): Promise<ReadonlyArray<StagedPackage>> => {
  rmSync(stagingFolder, { recursive: true, force: true })
  await compile()
  const all = packages()
  const released = Object.fromEntries(
    published(all).map(({ manifest }) => [manifest.name, manifest.version]),
  )
  return published(all).map((one) => {
    mkdirSync(folderOf(one.manifest.name), { recursive: true })
    const staged =
      one.manifest.name === program ? stageProgram(one, all) : stageLibrary(one, released)
    const { folder, manifest } = staged
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
    writeFileSync(join(folder, "README.md"), readme(manifest, publicModules(one)))
    copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"))
    return staged
  })
}
