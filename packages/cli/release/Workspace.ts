/** The packages of the repository as they are: read from their `package.json`, never changed. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"

/** What the release reads and writes of a `package.json`. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly private?: boolean
  readonly license?: string
  readonly type?: string
  readonly bin?: Readonly<Record<string, string>>
  readonly files?: ReadonlyArray<string>
  readonly exports?: Readonly<Record<string, unknown>>
  readonly engines?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** One package of the repository. */
export interface Package {
  /** Name of its folder below `packages`. */
  readonly room: string
  /** Absolute path of its folder. */
  readonly folder: string
  readonly manifest: Manifest
}

/** Absolute path of the repository. */
export const root = resolve(import.meta.dirname, "../../..")

/** Absolute path of the folder that everything of a release is written to; git ignores it. */
export const releaseFolder = join(root, ".release")

/** Reads a `package.json`. */
export const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** All packages of the repository, in the order of their folders. */
export const packages = (): ReadonlyArray<Package> =>
  readdirSync(join(root, "packages"))
    .toSorted()
    .map((room) => ({ room, folder: join(root, "packages", room) }))
    .filter(({ folder }) => existsSync(join(folder, "package.json")))
    .map((one) => ({ ...one, manifest: manifestIn(one.folder) }))

/** The packages that are published. */
export const published = (all: ReadonlyArray<Package>): ReadonlyArray<Package> =>
  all.filter(({ manifest }) => manifest.private !== true)
