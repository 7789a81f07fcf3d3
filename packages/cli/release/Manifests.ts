/**
 * The `package.json` of a published package, made from that of the repository: `exports` name the compiled modules, Effect
 * is a peer so that a program has one copy of it, and packages of the same release depend on each other in one version.
 * Pure.
 */
import { ReleaseError } from "./ReleaseError.ts"
import type { Manifest } from "./Workspace.ts"

/** Address of the repository, for registries and issue links. A placeholder until the repository has a public one. */
export const repositoryUrl = "https://github.com/colloquy/colloquy"

/** Packages of which a program must have one copy: their services and classes are recognized by identity. */
const peers = ["effect", "@effect/platform-node"]

/** Folder of the compiled modules in a package. */
const compiled = "dist"

type Versions = Readonly<Record<string, string>>

/** A `package.json` that is ready to be published. */
export interface StagedManifest extends Manifest {
  readonly description: string
  readonly sideEffects: boolean
  readonly types?: string
}

/** The compiled module of a source of the package: `./src/a/B.ts` is `./dist/a/B.js`. */
export const compiledPath = (target: string, folder: string = compiled): string =>
  target.replace(/^\.\/src\//, `./${folder}/`).replace(/\.ts$/, ".js")

const declarationOf = (path: string): string => path.replace(/\.js$/, ".d.ts")

/** One member of `exports`. What is no module, such as `package.json`, stays as it is. */
const exported = ({ name }: Manifest, key: string, target: unknown): unknown => {
  if (typeof target !== "string") {
    throw new ReleaseError(`${name}: exports["${key}"] is no path; expected "./src/….ts"`)
  }
  if (!target.endsWith(".ts")) return target
  if (!target.startsWith("./src/")) {
    throw new ReleaseError(`${name}: exports["${key}"] is ${target}; expected "./src/….ts"`)
  }
  const path = compiledPath(target)
  return { types: declarationOf(path), default: path }
}

const exportsOf = (manifest: Manifest): Readonly<Record<string, unknown>> => ({
  ...Object.fromEntries(
    Object.entries(manifest.exports ?? {}).map(([key, target]) => [
      key,
      exported(manifest, key, target),
    ]),
  ),
  "./package.json": "./package.json",
})

const described = ({ description, name }: Manifest): string => {
  if (description !== undefined && description !== "") return description
  throw new ReleaseError(`${name}: description is missing; expected one sentence`)
}

/** The range of a peer: the minor version that the tests ran with, and its patches. */
const peerRange = (version: string): string => `~${version}`

const isOwn = (name: string): boolean => name.startsWith("@colloquy/")

/** A dependency on a package of this repository, in the version that is released with it. */
const ownVersion = (
  { name }: Manifest,
  dependency: string,
  wanted: string,
  released: Versions,
): string => {
  const version = released[dependency]
  if (version === undefined) {
    throw new ReleaseError(`${name}: depends on ${dependency}, which is private`)
  }
  if (version !== wanted) {
    throw new ReleaseError(
      `${name}: depends on ${dependency} ${wanted}; expected ${version}, its version in this repository`,
    )
  }
  return version
}

/** Dependencies and peers of a package, from what it depends on in the repository. */
const dependenciesOf = (manifest: Manifest, released: Versions) => {
  const all = Object.entries(manifest.dependencies ?? {})
  return {
    dependencies: Object.fromEntries(
      all
        .filter(([name]) => !peers.includes(name))
        .map(([name, version]) => [
          name,
          isOwn(name) ? ownVersion(manifest, name, version, released) : version,
        ]),
    ),
    peerDependencies: {
      ...manifest.peerDependencies,
      ...Object.fromEntries(
        all
          .filter(([name]) => peers.includes(name))
          .map(([name, version]) => [name, peerRange(version)]),
      ),
    },
    peerDependenciesMeta: manifest.peerDependenciesMeta,
  }
}

/** Members that every published package has. */
const common = (manifest: Manifest, room: string) => ({
  name: manifest.name,
  version: manifest.version,
  description: described(manifest),
  license: manifest.license ?? "Apache-2.0",
  homepage: `${repositoryUrl}#readme`,
  bugs: { url: `${repositoryUrl}/issues` },
  repository: { type: "git", url: `git+${repositoryUrl}.git`, directory: `packages/${room}` },
  keywords: ["effect", "agent", "llm", "mcp", "typescript"],
})

const withoutEmpty = <A extends object>(members: A): A =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) =>
        value !== undefined &&
        !(typeof value === "object" && value !== null && Object.keys(value).length === 0),
    ),
  ) as A

/** `types` of the main export, for tools that do not read `exports`. */
const typesOf = (exports: Readonly<Record<string, unknown>>): string | undefined =>
  (exports["."] as { readonly types?: string } | undefined)?.types

/** The manifest of a package of modules. `released` has the version of each published package by its name. */
export const libraryManifest = (
  manifest: Manifest,
  room: string,
  released: Versions,
): StagedManifest => {
  const exports = exportsOf(manifest)
  return withoutEmpty({
    ...common(manifest, room),
    files: [compiled],
    type: "module",
    sideEffects: false,
    types: typesOf(exports),
    exports,
    ...dependenciesOf(manifest, released),
    engines: manifest.engines,
  }) as StagedManifest
}

/** What the package of the program has besides its own manifest. */
export interface ProgramParts {
  /** Folder of its compiled library: `lib`. */
  readonly library: string
  /** Compiled module of each source that an export names, from the package's root. */
  readonly modules: Readonly<Record<string, string>>
  /** Packages that the library imports, as the packages of the repository depend on them. */
  readonly imported: Pick<Manifest, "dependencies" | "peerDependencies" | "peerDependenciesMeta">
  /** Packages with the programs that the bundle looks for. */
  readonly programs: Versions
}

/**
 * The manifest of `colloquy`. It depends on no package of this repository: its program is one bundle and its library
 * contains the modules that it needs, so that it can be installed alone.
 */
export const programManifest = (
  manifest: Manifest,
  room: string,
  { imported, library, modules, programs }: ProgramParts,
): StagedManifest => {
  const target = (source: string) => {
    const path = modules[source]
    if (path === undefined) throw new ReleaseError(`${manifest.name}: ${source} was not compiled`)
    return { types: declarationOf(path), default: path }
  }
  const exports = Object.fromEntries(
    Object.entries(manifest.exports ?? {}).map(([key, source]) => [
      key,
      typeof source === "string" && source.endsWith(".ts") ? target(source) : source,
    ]),
  )
  const hasLibrary = Object.keys(modules).length > 0
  return withoutEmpty({
    ...common(manifest, room),
    bin: manifest.bin,
    files: [...(manifest.files ?? []), ...(hasLibrary ? [library] : [])],
    type: "module",
    sideEffects: false,
    types: typesOf(exports),
    exports: { ...exports, "./package.json": "./package.json" },
    ...dependenciesOf({ name: manifest.name, version: manifest.version, ...imported }, {}),
    optionalDependencies: programs,
    engines: manifest.engines,
  }) as StagedManifest
}
