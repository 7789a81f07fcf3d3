/** Faults of a value as texts for people: a path and a sentence per fault, never the value itself. Pure. */
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { nearest } from "./Nearest.ts"
import { shortened } from "./text/Shortened.ts"

/** One fault of a value. */
export interface Fault {
  /** Member names and indexes from the root of the value. */
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

type Path = Fault["path"]

/** UTF-16 code units of a member name that a text repeats: the client made the names. */
const maxNameLength = 256

const named = (key: PropertyKey): string | number => {
  if (typeof key === "number") return key
  return shortened(String(key), maxNameLength)
}

/** The tag of a union's member: the name of its first field, and the field's literal as JSON. */
const tagOf = (ast: SchemaAST.AST): readonly [name: string, literal: string] | undefined => {
  const tag = ast._tag === "Objects" ? ast.propertySignatures[0] : undefined
  return tag?.type._tag === "Literal"
    ? [String(tag.name), JSON.stringify(tag.type.literal)]
    : undefined
}

/** The text for the tags of a union; undefined unless the first field of every member is the same tag. */
const expectedTag = (union: SchemaAST.Union): string | undefined => {
  const tags = union.types.map(tagOf)
  const name = tags[0]?.[0]
  return name !== undefined && tags.every((tag) => tag?.[0] === name)
    ? `an object whose \`${name}\` is ${tags.map((tag) => tag?.[1]).join(" | ")}`
    : undefined
}

/** The text for a member that the object of this schema does not have. */
const unknownMember = (name: string, ast: SchemaAST.AST): string => {
  const known = ast._tag === "Objects" ? ast.propertySignatures.map((one) => String(one.name)) : []
  const meant = nearest(name, known)
  if (meant !== undefined) return `unknown member; did you mean \`${meant}\`?`
  return known.length === 0 ? "unknown member" : `unknown member; expected ${known.join(", ")}`
}

function* faultsAt(issue: SchemaIssue.Issue, path: Path): Generator<Fault> {
  switch (issue._tag) {
    case "Pointer":
      return yield* faultsAt(issue.issue, [...path, ...issue.path.map(named)])
    case "Composite":
      for (const inner of issue.issues) yield* faultsAt(inner, path)
      return
    case "UnexpectedKey":
      return yield { path, message: unknownMember(String(path.at(-1)), issue.ast) }
    case "AnyOf": {
      if (issue.issues.length > 0) {
        for (const inner of issue.issues) yield* faultsAt(inner, path)
        return
      }
      const expected = expectedTag(issue.ast)
      if (expected !== undefined) return yield { path, message: `Expected ${expected}` }
    }
  }
  for (const one of format(issue).issues) {
    const below = (one.path ?? []).map((segment) =>
      named(typeof segment === "object" ? segment.key : segment),
    )
    yield { path: [...path, ...below], message: one.message }
  }
}

/** More than a person corrects at once. Without a limit, an error could be far longer than its request. */
const maxFaults = 20

/** At most 20 faults, followed by one that says that there are more. */
export const faultsOf = (error: Schema.SchemaError): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  for (const fault of faultsAt(error.issue, [])) {
    if (faults.length === maxFaults) return [...faults, { path: [], message: "and more" }]
    faults.push(fault)
  }
  return faults
}

/** One line: `params.clientInfo.name: Missing key; params.protocolVersion: Expected string`. */
export const describeFaults = (root: string, faults: ReadonlyArray<Fault>): string =>
  faults.map(({ path, message }) => `${[root, ...path].join(".")}: ${message}`).join("; ")
