/**
 * Builds the simulation into one file that holds every mutated module next to the original one, so that all mutations share
 * one compilation. Each module that has mutations is replaced by one that exports the values of the original or, where the
 * process was started for one of its mutations, of that mutated module.
 */
import { type Plugin, rolldown } from "rolldown"
import { parseAst } from "rolldown/parseAst"
import type { Mutation } from "../mutations.ts"

/** Name of the environment variable with the place of the mutation that a process runs; absent: none. */
export const selecting = "COLLOQUY_MUTATION"

/** Names of the values that a module of TypeScript exports. */
const exportedValues = (path: string, source: string): ReadonlyArray<string> =>
  parseAst(source, { lang: "ts" }, path).body.flatMap((statement) => {
    if (statement.type === "ExportAllDeclaration" || statement.type === "ExportDefaultDeclaration")
      throw new Error(`${path}: mutations of a module with \`${statement.type}\` are not supported`)
    if (statement.type !== "ExportNamedDeclaration" || statement.exportKind === "type") return []
    const { declaration, specifiers } = statement
    const named = specifiers.flatMap(({ exported, exportKind }) =>
      exportKind !== "type" && exported.type === "Identifier" ? [exported.name] : [],
    )
    switch (declaration?.type) {
      case "VariableDeclaration":
        return declaration.declarations.flatMap(({ id }) =>
          id.type === "Identifier" ? [id.name] : [],
        )
      case "FunctionDeclaration":
      case "ClassDeclaration":
        return declaration.id === null ? [] : [declaration.id.name]
      default:
        return named
    }
  })

const variant = /\?mutation=\d*$/

/** The text of a file after a mutation; fails unless what the mutation replaces occurs exactly once. */
const mutatedText = (source: string, { file, find, replace }: Mutation): string => {
  const times = source.split(find).length - 1
  if (times !== 1) throw new Error(`\`${find}\` occurs ${times} times in ${file}, not once`)
  return source.replace(find, () => replace)
}

const withMutations = (root: string, mutations: ReadonlyArray<Mutation>): Plugin => {
  const placesByPath = new Map<string, Array<number>>()
  for (const [place, { file }] of mutations.entries()) {
    const path = `${root}/${file}`
    placesByPath.set(path, [...(placesByPath.get(path) ?? []), place])
  }
  return {
    name: "with-mutations",
    resolveId: (source) => (variant.test(source) ? source : null),
    async load(id) {
      const [path = id, place] = id.split(/\?mutation=/)
      const places = placesByPath.get(path)
      if (places === undefined) return null
      const source = await this.fs.readFile(path, { encoding: "utf8" })
      if (place !== undefined) {
        const mutation = mutations[Number(place)]
        const isOriginal = place === "" || mutation === undefined
        return { code: isOriginal ? source : mutatedText(source, mutation), moduleType: "ts" }
      }
      const variants = ["", ...places].map((one) => `${path}?mutation=${one}`)
      const imports = variants.map((one, at) => `import * as v${at} from ${JSON.stringify(one)}`)
      const cases = places.map((one, at) => `"${one}": v${at + 1}`).join(", ")
      const chosen = `({ ${cases} })[process.env.${selecting}] ?? v0`
      const names = exportedValues(path, source).join(", ")
      return {
        code: `${imports.join("\n")}\nexport const { ${names} } = ${chosen}`,
        moduleType: "js",
      }
    },
  }
}

/**
 * Writes the simulation with all mutations to one file that Node runs. Resolves when it is written.
 *
 * @param root of the repository
 */
export const buildMutated = async (
  root: string,
  mutations: ReadonlyArray<Mutation>,
  file: string,
): Promise<void> => {
  const bundle = await rolldown({
    input: `${root}/packages/simulation/src/main.ts`,
    platform: "node",
    plugins: [withMutations(root, mutations)],
  })
  try {
    await bundle.write({ file, format: "esm", codeSplitting: false })
  } finally {
    await bundle.close()
  }
}
