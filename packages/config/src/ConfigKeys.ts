/**
 * The keys of a configuration schema as data, for the reference page, for suggestions when a key is
 * misspelt, and for `colloquy config`. Derived from the schema only.
 */
import { nearest } from "@colloquy/protocol/Nearest"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { type ConfigTree, isTable } from "./ConfigTree.ts"

/** One key of the configuration. */
export interface ConfigKey {
  /** The dotted path. `<name>` is in place of names that the author of the file chooses. */
  readonly path: string
  /** The type of the value. */
  readonly ast: SchemaAST.AST
  readonly description: string
  /** The value that counts when the key is absent. */
  readonly default?: unknown
}

/** Placeholder for names that the author of the file chooses. */
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

/** A key of a file that no part of the program reads. */
export interface UnknownKey {
  /** The dotted path, as in the file. */
  readonly path: string
  /**
   * The dotted path of the known key that may be meant. Determined only for the first hundred
   * unknown keys.
   */
  readonly near?: string
}

/**
 * Number of unknown keys that a name is suggested for; comparing names costs far more than finding
 * the key.
 */
const maxSuggestions = 100

/** The table that a value of this type may be: the type itself, or a member of the union. */
const tableIn = (type: SchemaAST.AST): SchemaAST.Objects | undefined => {
  if (SchemaAST.isUnion(type)) return type.types.find(SchemaAST.isObjects)
  return SchemaAST.isObjects(type) ? type : undefined
}

const unknownIn = (
  type: SchemaAST.AST,
  table: ConfigTree,
  path: string,
  left: { suggestions: number },
): ReadonlyArray<UnknownKey> => {
  const ast = tableIn(type)
  if (ast === undefined) return []
  const [index] = ast.indexSignatures
  return Object.entries(table).flatMap(([name, value]) => {
    const property = ast.propertySignatures.find((one) => one.name === name)
    const inner = property?.type ?? index?.type
    const at = under(path, name)
    if (inner !== undefined) return isTable(value) ? unknownIn(inner, value, at, left) : []
    if (left.suggestions-- <= 0) return [{ path: at }]
    const known = ast.propertySignatures.map((one) => String(one.name))
    const near = nearest(name, known)
    return [{ path: at, ...(near === undefined ? {} : { near: under(path, near) }) }]
  })
}

/**
 * The keys of `tree` that the schema does not name, at any depth. They are ignored when settings
 * are resolved, so the caller should warn about them.
 */
export const unknownKeys = (schema: Schema.Top, tree: ConfigTree): ReadonlyArray<UnknownKey> =>
  unknownIn(schema.ast, tree, "", { suggestions: maxSuggestions })
