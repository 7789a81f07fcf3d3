/**
 * Describes what is wrong with a value of the configuration: what was found, what was expected, the
 * nearest known name, and the key. The wording is that of the original program, which clients may
 * parse:
 *
 *     unknown variant `bogus`, expected one of `none`, `minimal`, `low`, `medium`, `high`, `xhigh`
 *     in `model_reasoning_effort`
 *
 * Never quotes a text unless the expected values are a closed set of names, because it may be a
 * secret.
 */
import { nearest } from "@colloquy/protocol/Nearest"
import type * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as Data from "effect/Data"
import { type ConfigTree, isTable } from "./ConfigTree.ts"

/** The configuration is invalid. */
export class ConfigFault extends Data.TaggedError("ConfigFault")<{
  /** The problem in the first line; the key, if one is at fault, in the second. */
  readonly message: string
  /**
   * The dotted path of the key at fault, or of the table that lacks a key. Absent when no single
   * key is at fault.
   */
  readonly key?: string
}> {}

interface Leaf {
  readonly issue: SchemaIssue.Issue
  readonly path: ReadonlyArray<string>
  /** The type of the value that a check refused. */
  readonly refusedBy?: SchemaAST.AST
}

/** The parts of an issue that are no longer divided: one if the decoder stopped at the first. */
const leavesOf = (
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<string>,
  refusedBy?: SchemaAST.AST,
): readonly [Leaf, ...ReadonlyArray<Leaf>] => {
  switch (issue._tag) {
    case "Pointer":
      return leavesOf(issue.issue, [...path, ...issue.path.map(String)])
    case "Composite": {
      const [first, ...others] = issue.issues
      return [
        ...leavesOf(first, path, issue.ast),
        ...others.flatMap((one) => leavesOf(one, path, issue.ast)),
      ]
    }
    case "AnyOf": {
      // The value has the type of exactly one member, such as a sequence, so the fault is inside
      // it.
      const [only, ...others] = issue.issues
      return only !== undefined &&
        others.length === 0 &&
        only._tag !== "InvalidType" &&
        only._tag !== "AnyOf"
        ? leavesOf(only, path)
        : [{ issue, path }]
    }
    case "Filter":
    case "Encoding":
      return [{ issue, path, ...(refusedBy === undefined ? {} : { refusedBy }) }]
    default:
      return [{ issue, path }]
  }
}

const kinds: Partial<Record<SchemaAST.AST["_tag"], string>> = {
  String: "a string",
  Boolean: "a boolean",
  Number: "a non-negative integer",
  Objects: "a map",
  Arrays: "a sequence",
}

/** The types of a union and of the unions in it. */
const typesOf = ({ types }: SchemaAST.Union): ReadonlyArray<SchemaAST.AST> =>
  types.flatMap((type) => (type._tag === "Union" ? typesOf(type) : [type]))

/** The types of a union's members that are not names. */
const kindsOf = (ast: SchemaAST.Union): ReadonlyArray<string> =>
  typesOf(ast).flatMap((type) => kinds[type._tag] ?? [])

const namesOf = (ast: SchemaAST.Union): ReadonlyArray<string> =>
  typesOf(ast).flatMap((type) =>
    type._tag === "Literal" && typeof type.literal === "string" ? [type.literal] : [],
  )

/** The type of a value, and the value unless it is a text. */
export const describeFound = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "sequence"
  if (value instanceof Date) return "datetime"
  switch (typeof value) {
    case "boolean":
      return `boolean \`${value}\``
    case "number":
      return `${Number.isInteger(value) ? "integer" : "floating point"} \`${value}\``
    default:
      return isTable(value) ? "map" : "string"
  }
}

const oneOf = (ast: SchemaAST.Union, value: unknown): string => {
  const names = namesOf(ast)
  const expected = `expected one of ${[...names.map((name) => `\`${name}\``), ...kindsOf(ast)].join(", ")}`
  if (typeof value !== "string") return `invalid type: ${describeFound(value)}, ${expected}`
  const near = nearest(value, names)
  const suggestion = near === undefined ? "" : `, did you mean \`${near}\`?`
  return `unknown variant \`${value.slice(0, 80)}\`, ${expected}${suggestion}`
}

/** The fault of a key: the problem in the first line, the dotted path in the second. */
export const faultAt = (path: ReadonlyArray<string>, problem: string): ConfigFault => {
  const key = path.join(".")
  return new ConfigFault({ message: `${problem}\nin \`${key}\`\n`, key })
}

const faultOfLeaf = (leaf: Leaf, tree: ConfigTree): ConfigFault => {
  if (leaf.issue._tag === "MissingKey") {
    return faultAt(leaf.path.slice(0, -1), `missing field \`${leaf.path.at(-1)}\``)
  }
  const value = leaf.path.reduce<unknown>(
    (node, key) => (node as Readonly<Record<string, unknown>>)[key],
    tree,
  )
  if (leaf.issue._tag === "AnyOf") return faultAt(leaf.path, oneOf(leaf.issue.ast, value))
  if (leaf.refusedBy !== undefined) {
    const stated =
      leaf.issue._tag === "Filter" ? leaf.issue.filter.annotations?.expected : undefined
    // Effect's checks of numbers state less than the key expects, which must also not be negative.
    // A key with a range of its own states it.
    const isOwn =
      leaf.refusedBy._tag === "String" || stated?.startsWith("an integer from ") === true
    const expected = (isOwn ? stated : undefined) ?? kinds[leaf.refusedBy._tag] ?? "another value"
    return faultAt(leaf.path, `invalid value: ${describeFound(value)}, expected ${expected}`)
  }
  const expected = leaf.issue._tag === "InvalidType" ? kinds[leaf.issue.ast._tag] : undefined
  return faultAt(
    leaf.path,
    `invalid type: ${describeFound(value)}, expected ${expected ?? "another type"}`,
  )
}

/** The first fault of `tree` that a schema issue reports. */
export const faultOfIssue = (issue: SchemaIssue.Issue, tree: ConfigTree): ConfigFault =>
  faultOfLeaf(leavesOf(issue, [])[0], tree)

/** Every fault of `tree` that a schema issue reports, at least one. */
export const faultsOfIssue = (
  issue: SchemaIssue.Issue,
  tree: ConfigTree,
): ReadonlyArray<ConfigFault> => leavesOf(issue, []).map((leaf) => faultOfLeaf(leaf, tree))
