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
import { compile } from "./Compile.ts"
import { licenses } from "./Licenses.ts"
import { writeLibrary } from "./Library.ts"
import { libraryManifest, programManifest, type StagedManifest } from "./Manifests.ts"
import { type PublicModule, readme, withAbsoluteLinks } from "./Readmes.ts"
import { ReleaseError } from "./ReleaseError.ts"
import { manifestIn, type Package, packages, published, releaseFolder, root } from "./Workspace.ts"

/** A package in its folder, ready to be packed. */
export interface StagedPackage {
  readonly folder: string
  readonly manifest: StagedManifest
}

/** The package of the program, which is bundled. */
const program = "colloquy"

/** Folder of the compiled library in the package of the program. */
const library = "lib"

/** The licences of what the bundle of the program contains. */
const licensesFile = "THIRD-PARTY-LICENSES.txt"

/** Where a release is written to. */
interface Folders {
  /** Absolute path of the folder with the compiled modules of all packages. */
  readonly build: string
  /** Absolute path of the folder of the package that is staged. */
  readonly into: string
}

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

/** The package with the name of the project has its README. */
const readmeOf = (of: Package, manifest: StagedManifest): string =>
  manifest.name === program
    ? withAbsoluteLinks(readFileSync(join(root, "README.md"), "utf8"))
    : readme(manifest, publicModules(of))

const stageProgram = (
  of: Package,
  all: ReadonlyArray<Package>,
  { build, into }: Folders,
): StagedPackage => {
  for (const name of of.manifest.files ?? []) {
    const from = join(of.folder, name)
    if (!existsSync(from)) {
      throw new ReleaseError(
        `${of.manifest.name}: ${name} is missing; expected it from npm run build`,
      )
    }
    cpSync(from, join(into, name), { recursive: true })
  }
  writeFileSync(join(into, licensesFile), licenses(published(all)))
  const { imported, modules } = writeLibrary({
    packages: all,
    of,
    build,
    into,
    folder: library,
  })
  const programs = programsOf(of)
  return {
    folder: into,
    manifest: programManifest(
      { ...of.manifest, files: [...(of.manifest.files ?? []), licensesFile] },
      of.room,
      { library, modules, imported, programs },
    ),
  }
}

const stageLibrary = (
  of: Package,
  released: Readonly<Record<string, string>>,
  { build, into }: Folders,
): StagedPackage => {
  const manifest = libraryManifest(of.manifest, of.room, released)
  cpSync(join(build, of.room, "src"), join(into, "dist"), { recursive: true })
  return { folder: into, manifest }
}

/**
 * Compiles and stages every published package anew into a folder, by default that of releases. Rejects with a
 * `ReleaseError` that names what is missing.
 */
export const stage = async (folder = releaseFolder): Promise<ReadonlyArray<StagedPackage>> => {
  const build = join(folder, "build")
  rmSync(join(folder, "packages"), { recursive: true, force: true })
  await compile(build)
  const all = packages()
  const released = Object.fromEntries(
    published(all).map(({ manifest }) => [manifest.name, manifest.version]),
  )
  return published(all).map((one) => {
    const into = join(folder, "packages", one.manifest.name.replace(/^@colloquy\//, ""))
    mkdirSync(into, { recursive: true })
    const staged =
      one.manifest.name === program
        ? stageProgram(one, all, { build, into })
        : stageLibrary(one, released, { build, into })
    writeFileSync(join(into, "package.json"), `${JSON.stringify(staged.manifest, null, 2)}\n`)
    writeFileSync(join(into, "README.md"), readmeOf(one, staged.manifest))
    copyFileSync(join(root, "LICENSE"), join(into, "LICENSE"))
    return staged
  })
}
