/**
 * The licences of the packages of others that the bundle of the program may contain: all that the packages of this
 * repository depend on at run time, directly or not. Their texts have to be passed on with the copies.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ReleaseError } from "./ReleaseError.ts"
import { type Manifest, manifestIn, type Package } from "./Workspace.ts"

/** The folder of a package as a module in `folder` would find it, or undefined where it is not installed. */
const installed = (folder: string, name: string): string | undefined => {
  const parts = folder.split("/")
  for (let length = parts.length; length > 0; length--) {
    const candidate = join(parts.slice(0, length).join("/") || "/", "node_modules", name)
    if (existsSync(join(candidate, "package.json"))) return candidate
  }
  return undefined
}

/** Folders of the packages of others that these depend on, by `name@version`. */
const foldersOf = (packages: ReadonlyArray<Package>): ReadonlyMap<string, string> => {
  const own = new Set(packages.map(({ manifest }) => manifest.name))
  const found = new Map<string, string>()
  const left = packages.map(({ folder, manifest }) => ({ folder, manifest }))
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const name of Object.keys(next.manifest.dependencies ?? {})) {
      if (own.has(name)) continue
      const folder = installed(next.folder, name)
      if (folder === undefined) {
        throw new ReleaseError(`${next.manifest.name}: ${name} is not installed; run npm ci`)
      }
      const manifest = manifestIn(folder)
      const id = `${manifest.name}@${manifest.version}`
      if (found.has(id)) continue
      found.set(id, folder)
      left.push({ folder, manifest })
    }
  }
  return found
}

const textIn = (folder: string, { license, name }: Manifest): string => {
  const file = readdirSync(folder).find((one) => /^licen[cs]e(?:[-.].*)?$/i.test(one))
  if (file !== undefined) return readFileSync(join(folder, file), "utf8").trim()
  if (license === undefined) {
    throw new ReleaseError(`${name}: has neither a licence file nor the member license`)
  }
  return `License: ${license}`
}

/** The text of the file with all licences, in the order of the names of the packages. */
export const licenses = (packages: ReadonlyArray<Package>): string =>
  [...foldersOf(packages)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, folder]) => `${id}\n\n${textIn(folder, manifestIn(folder))}\n`)
    .join(`\n${"-".repeat(72)}\n\n`)
