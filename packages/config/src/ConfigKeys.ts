/**
 * The keys of a configuration schema as data: what the reference page lists, what a misspelt key is compared with, and
 * what `colloquy config` shows. Derived from the schema alone.
 */
import { nearest } from "@colloquy/protocol/Nearest"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { type ConfigTree, isTable } from "./ConfigTree.ts"

export interface ConfigKey {
  /** Dotted; `<name>` stands for a name that the writer of the file chooses. */
  readonly path: string
  readonly ast: SchemaAST.AST
  readonly description: string
  readonly default?: unknown
}

/** Below a table with chosen names. */
const anyName = "<name>"

const keyOf = (path: string, ast: SchemaAST.AST): ConfigKey => {
  const annotations = SchemaAST.resolve(ast)
  const fallback = annotations?.["default"]
  return {
    path,
    ast,
    description: SchemaAST.resolveDescription(ast) ?? "",
    ...(fallback === undefined ? {} : { default: fallback }),
  }
}

const under = (path: string, name: string) => (path === "" ? name : `${path}.${name}`)

const members = (ast: SchemaAST.Objects, path: string): ReadonlyArray<ConfigKey> => [
  ...ast.propertySignatures.flatMap(({ name, type }) => walk(type, under(path, String(name)))),
  ...ast.indexSignatures.flatMap(({ type }) => walk(type, under(path, anyName))),
]

const walk = (ast: SchemaAST.AST, path: string): ReadonlyArray<ConfigKey> =>
  SchemaAST.isObjects(ast) ? members(ast, path) : [keyOf(path, ast)]

/** Every key that has a value, in the order of the schema. */
export const keysOf = (schema: Schema.Top): ReadonlyArray<ConfigKey> => walk(schema.ast, "")

export interface UnknownKey {
  /** Dotted, as it stands in the file. */
  readonly path: string
  /** The known key that may be meant; looked for only for the first hundred. */
  readonly near?: string
}

/** Keys that a name is suggested for: comparing names costs far more than finding the key. */
const maxSuggestions = 100

const unknownIn = (
  ast: SchemaAST.AST,
  table: ConfigTree,
  path: string,
  left: { suggestions: number },
): ReadonlyArray<UnknownKey> => {
  if (!SchemaAST.isObjects(ast)) return []
  const [index] = ast.indexSignatures
  return Object.entries(table).flatMap(([name, value]) => {
    const property = ast.propertySignatures.find((one) => one.name === name)
    const type = property?.type ?? index?.type
    const at = under(path, name)
    if (type !== undefined) return isTable(value) ? unknownIn(type, value, at, left) : []
    if (left.suggestions-- <= 0) return [{ path: at }]
    const known = ast.propertySignatures.map((one) => String(one.name))
    const near = nearest(name, known)
    return [{ path: at, ...(near === undefined ? {} : { near: under(path, near) }) }]
  })
}

/** The keys of `tree` that the schema does not name, at any depth. They are ignored (§7.1), which somebody should be told. */
export const unknownKeys = (schema: Schema.Top, tree: ConfigTree): ReadonlyArray<UnknownKey> =>
  unknownIn(schema.ast, tree, "", { suggestions: maxSuggestions })
