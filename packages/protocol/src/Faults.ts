/** What is wrong with a value, for people: a path and a sentence per fault, never the value itself. */
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"

export interface Fault {
  /** Member names and indexes from the root of the value. */
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

type Path = Fault["path"]

const named = (key: PropertyKey): string | number => (typeof key === "symbol" ? String(key) : key)

/** Of a member that a literal tells from the others: its name, and the literal as JSON. */
const tagOf = (ast: SchemaAST.AST): readonly [name: string, literal: string] | undefined => {
  const tag = ast._tag === "Objects" ? ast.propertySignatures[0] : undefined
  return tag?.type._tag === "Literal"
    ? [String(tag.name), JSON.stringify(tag.type.literal)]
    : undefined
}

/** What tells the members of a union apart, where it is the first of each. */
const expectedTag = (union: SchemaAST.Union): string | undefined => {
  const tags = union.types.map(tagOf)
  const name = tags[0]?.[0]
  return name !== undefined && tags.every((tag) => tag?.[0] === name)
    ? `an object whose \`${name}\` is ${tags.map((tag) => tag?.[1]).join(" | ")}`
    : undefined
}

const faultsAt = (issue: SchemaIssue.Issue, path: Path): ReadonlyArray<Fault> => {
  switch (issue._tag) {
    case "Pointer":
      return faultsAt(issue.issue, [...path, ...issue.path.map(named)])
    case "Composite":
      return issue.issues.flatMap((inner) => faultsAt(inner, path))
    case "AnyOf": {
      if (issue.issues.length > 0) return issue.issues.flatMap((inner) => faultsAt(inner, path))
      const expected = expectedTag(issue.ast)
      if (expected !== undefined) return [{ path, message: `Expected ${expected}` }]
    }
  }
  return format(issue).issues.map((one) => ({
    path: [
      ...path,
      ...(one.path ?? []).map((segment) =>
        named(typeof segment === "object" ? segment.key : segment),
      ),
    ],
    message: one.message,
  }))
}

export const faultsOf = (error: Schema.SchemaError): ReadonlyArray<Fault> =>
  faultsAt(error.issue, [])

/** One line: `params.clientInfo.name: Missing key; params.protocolVersion: Expected string`. */
export const describeFaults = (root: string, faults: ReadonlyArray<Fault>): string =>
  faults.map(({ path, message }) => `${[root, ...path].join(".")}: ${message}`).join("; ")
