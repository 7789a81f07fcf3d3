/**
 * `npm run release`: stages, packs and checks every package, prints what would be published, and stops there. Publishing
 * is a decision of a person with the rights to the names, who runs the printed commands.
 */
import { check, pack, type Tarball } from "./Pack.ts"
import { ReleaseError } from "./ReleaseError.ts"
import { stage } from "./Stage.ts"

const print = (text: string) => process.stdout.write(`${text}\n`)

/** Packages before those that depend on them, so that each can be installed from the moment it is published. */
const inOrder = (tarballs: ReadonlyArray<Tarball>): ReadonlyArray<Tarball> => {
  const ordered = new Set<Tarball>()
  const add = (tarball: Tarball): void => {
    if (ordered.has(tarball)) return
    for (const name of Object.keys(tarball.manifest.dependencies ?? {})) {
      const needed = tarballs.find(({ manifest }) => manifest.name === name)
      if (needed !== undefined) add(needed)
    }
    ordered.add(tarball)
  }
  for (const tarball of tarballs) add(tarball)
  return [...ordered]
}

const release = async (): Promise<number> => {
  const tarballs = await pack(await stage())
  for (const { bytes, files, manifest } of tarballs) {
    print(`${manifest.name}@${manifest.version}  ${files} files, ${Math.ceil(bytes / 1024)} KiB`)
  }
  const faults = await check(tarballs)
  for (const fault of faults) print(`\n${fault}`)
  if (faults.length > 0) return 1
  print("\npublint and arethetypeswrong report nothing. Nothing was published; to publish:")
  for (const { path } of inOrder(tarballs)) print(`  npm publish ${path} --access public`)
  return 0
}

try {
  process.exitCode = await release()
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error
  process.stderr.write(`release: ${error.message}\n`)
  process.exitCode = 1
}
