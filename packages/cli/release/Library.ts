/**
 * The library of the package `colloquy`: the compiled modules that its exports need, of whatever package of this
 * repository, with relative imports between them. So `colloquy` is complete without the other packages, and no module is
 * in it that no export needs.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { isBuiltin } from "node:module"
import { compiledPath, type ProgramParts } from "./Manifests.ts"
import { ReleaseError } from "./ReleaseError.ts"
import { specifiersOf, withSpecifiers } from "./Specifiers.ts"
import type { Manifest, Package } from "./Workspace.ts"

/** The library as it was written. */
export interface Library {
  /** Compiled module of each entry, from the root of the package, by its source: `./src/A.ts`. */
  readonly modules: Readonly<Record<string, string>>
  /** Packages that the modules import, as the packages of the repository depend on them. */
  readonly imported: ProgramParts["imported"]
}

/** What the library is made of. */
export interface LibraryInput {
  readonly packages: ReadonlyArray<Package>
  /** The package whose library it is. */
  readonly of: Package
  /** Folder with the compiled modules of all packages: `core/src/Turn.js`. */
  readonly build: string
  /** Folder of the staged package. */
  readonly into: string
  /** Folder of the library in the staged package. */
  readonly folder: string
}

const packageName = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")

/** Files of a compiled module: what runs, and its types. */
const filesOf = (module: string): ReadonlyArray<string> => [
  module,
  module.replace(/\.js$/, ".d.ts"),
]

/** The compiled module that a target of `exports` is built to, such as `core/src/Turn.js` for `./src/Turn.ts`. */
const moduleOf = (room: string, target: string): string =>
  join(room, compiledPath(target, "src")).replaceAll("\\", "/")

const targetOf = ({ manifest }: Package, specifier: string): string | undefined => {
  const key = `.${specifier.slice(manifest.name.length)}`
  const exact = manifest.exports?.[key]
  if (typeof exact === "string") return exact
  for (const [pattern, target] of Object.entries(manifest.exports ?? {})) {
    const [before, after] = pattern.split("*")
    if (before === undefined || after === undefined || typeof target !== "string") continue
    if (!key.startsWith(before) || !key.endsWith(after)) continue
    return target.replace("*", key.slice(before.length, key.length - after.length))
  }
  return undefined
}

/** Follows the imports of compiled modules within the repository. */
class Closure {
  readonly modules = new Set<string>()
  /** Names of the packages of others that the modules import, each with a package here that imports it. */
  readonly imported = new Map<string, Package>()
  private readonly input: LibraryInput

  constructor(input: LibraryInput) {
    this.input = input
  }

  /** The module of the repository that a specifier names, or undefined for a package of others and for Node. */
  resolve(from: string, specifier: string): string | undefined {
    if (specifier.startsWith(".")) {
      return join(dirname(from), specifier).replaceAll("\\", "/").replace(/\.ts$/, ".js")
    }
    const name = packageName(specifier)
    const found = this.input.packages.find(({ manifest }) => manifest.name === name)
    if (found === undefined) return undefined
    const target = targetOf(found, specifier)
    if (target === undefined) {
      throw new ReleaseError(`${from}: imports ${specifier}, which ${name} does not export`)
    }
    return moduleOf(found.room, target)
  }

  add(entry: string): void {
    const left = [entry]
    for (let module = left.pop(); module !== undefined; module = left.pop()) {
      if (this.modules.has(module)) continue
      this.modules.add(module)
      for (const file of filesOf(module)) left.push(...this.importsOf(module, file))
    }
  }

  private importsOf(module: string, file: string): ReadonlyArray<string> {
    const path = join(this.input.build, file)
    if (!existsSync(path)) throw new ReleaseError(`${file}: was not compiled`)
    return specifiersOf(readFileSync(path, "utf8"), file).flatMap((specifier) => {
      const next = this.resolve(module, specifier)
      if (next === undefined && !isBuiltin(specifier)) this.addImported(module, specifier)
      return next ?? []
    })
  }

  private addImported(module: string, specifier: string): void {
    const name = packageName(specifier)
    const from = this.input.packages.find(({ room }) => room === module.split("/")[0])
    const { dependencies, peerDependencies } = from?.manifest ?? {}
    if (from === undefined || (dependencies?.[name] ?? peerDependencies?.[name]) === undefined) {
      throw new ReleaseError(
        `${module}: imports ${name}, which is no dependency of packages/${from?.room}`,
      )
    }
    this.imported.set(name, from)
  }
}

/** What the package of the library depends on: each package as the one here that imports it does. */
const dependenciesOf = ({ imported }: Closure): Library["imported"] => {
  const all = [...imported].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const pick = <A>(members: (manifest: Manifest) => Readonly<Record<string, A>> | undefined) =>
    Object.fromEntries(
      all.flatMap(([name, { manifest }]) => {
        const value = members(manifest)?.[name]
        return value === undefined ? [] : [[name, value]]
      }),
    )
  return {
    dependencies: pick(({ dependencies }) => dependencies),
    peerDependencies: pick(({ peerDependencies }) => peerDependencies),
    peerDependenciesMeta: pick(({ peerDependenciesMeta }) => peerDependenciesMeta),
  }
}

const writeModule = ({ build, folder, into }: LibraryInput, closure: Closure, module: string) => {
  // `core/src/Turn.js` becomes `lib/core/Turn.js`.
  const place = (one: string) => one.replace(/^([^/]+)\/src\//, "$1/")
  for (const file of filesOf(module)) {
    const text = withSpecifiers(readFileSync(join(build, file), "utf8"), file, (specifier) => {
      const target = closure.resolve(module, specifier)
      if (target === undefined) return specifier
      const path = relative(dirname(place(module)), place(target)).replaceAll("\\", "/")
      return path.startsWith(".") ? path : `./${path}`
    })
    const to = join(into, folder, place(file))
    mkdirSync(dirname(to), { recursive: true })
    writeFileSync(to, text)
  }
  copyFileSync(join(build, `${module}.map`), join(into, folder, `${place(module)}.map`))
}

/** Writes the library; one without entries is empty. */
export const writeLibrary = (input: LibraryInput): Library => {
  const { folder, of } = input
  const closure = new Closure(input)
  const sources = Object.values(of.manifest.exports ?? {}).filter(
    (target): target is string => typeof target === "string" && target.endsWith(".ts"),
  )
  const entries = sources.map((source) => [source, moduleOf(of.room, source)] as const)
  for (const [, module] of entries) closure.add(module)
  for (const module of closure.modules) writeModule(input, closure, module)
  return {
    modules: Object.fromEntries(
      entries.map(([source, module]) => [
        source,
        `./${folder}/${module.replace(/^([^/]+)\/src\//, "$1/")}`,
      ]),
    ),
    imported: dependenciesOf(closure),
  }
}
