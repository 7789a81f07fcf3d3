/**
 * Reads a whole JSON Schema once, within bounds: resolves its references and compiles its patterns. Rejects a schema that
 * cannot be checked completely: references out of the schema, unknown dialects, keywords that are not supported, patterns
 * that cannot be matched in linear time. Pure.
 */
import * as Result from "effect/Result"
import { isObject, type JsonSchema } from "./JsonValues.ts"
import { compile, type Pattern } from "./pattern/Pattern.ts"

/** What a check needs to know of a schema besides the schema itself. */
export interface SchemaIndex {
  /** The schema that a reference of this schema resolves to. */
  readonly resolve: (reference: string) => unknown
  /** The compiled form of a pattern of this schema. */
  readonly pattern: (source: string) => Pattern | undefined
}

/** Schemas within one schema. A tool with more would not fit into a model's context. */
const maxNodes = 10_000
const maxDepth = 64

const dialects: ReadonlySet<string> = new Set([
  "https://json-schema.org/draft/2020-12/schema",
  "http://json-schema.org/draft-07/schema",
])

const isKnown = (dialect: unknown) =>
  typeof dialect === "string" && dialects.has(dialect.replace(/#$/, ""))

/** Keywords that are not supported: they depend on the results of other keywords, or on other schemas. */
const unsupported = [
  "unevaluatedProperties",
  "unevaluatedItems",
  "$dynamicRef",
  "$recursiveRef",
  "additionalItems",
  "dependencies",
]

/** Keywords whose values are data, and keywords whose values are maps from names to schemas. */
const data: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"])
const maps: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
])

/** What was found while the schema was read. */
interface Seen {
  readonly anchors: Map<string, unknown>
  readonly references: Set<string>
  readonly patterns: Map<string, Pattern>
  nodes: number
}

const addPattern = (seen: Seen, source: string): string | undefined => {
  if (seen.patterns.has(source)) return undefined
  const pattern = compile(source)
  if (pattern._tag === "Failure") return `\`${source.slice(0, 200)}\` ${pattern.failure}`
  seen.patterns.set(source, pattern.success)
  return undefined
}

/** The first problem of a schema, except unresolved references: their targets may follow later. */
const problemOf = (seen: Seen, schema: unknown, depth: number): string | undefined => {
  if (!isObject(schema)) {
    return typeof schema === "boolean" ? undefined : "expected an object or a boolean as a schema"
  }
  if (++seen.nodes > maxNodes) return `contains more than ${maxNodes} schemas`
  if (depth > maxDepth) return `nested more than ${maxDepth} levels deep`
  const dialect = schema["$schema"]
  if (dialect !== undefined && !isKnown(dialect)) {
    return `unknown schema dialect ${JSON.stringify(dialect)}`
  }
  const unknown = unsupported.find((key) => Object.hasOwn(schema, key))
  if (unknown !== undefined) return `the keyword \`${unknown}\` is not supported`
  if (typeof schema["$anchor"] === "string") seen.anchors.set(schema["$anchor"], schema)
  if (typeof schema["$ref"] === "string") seen.references.add(schema["$ref"])
  if (typeof schema["pattern"] === "string") {
    const problem = addPattern(seen, schema["pattern"])
    if (problem !== undefined) return problem
  }
  return problemBelow(seen, schema, depth)
}

const problemBelow = (seen: Seen, schema: JsonSchema, depth: number): string | undefined => {
  for (const [key, value] of Object.entries(schema)) {
    if (data.has(key)) continue
    if (maps.has(key) && isObject(value)) {
      for (const [name, one] of Object.entries(value)) {
        const problem =
          (key === "patternProperties" ? addPattern(seen, name) : undefined) ??
          problemOf(seen, one, depth + 1)
        if (problem !== undefined) return problem
      }
    } else {
      for (const one of Array.isArray(value) ? value : [value]) {
        const problem = isObject(one) ? problemOf(seen, one, depth + 1) : undefined
        if (problem !== undefined) return problem
      }
    }
  }
  return undefined
}

const decodeToken = (token: string): string => {
  try {
    return decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~")
  } catch {
    return token
  }
}

/** The target of a reference; undefined when it has none. */
const follow = (root: unknown, seen: Seen, reference: string): unknown => {
  if (reference === "#") return root
  if (!reference.startsWith("#/")) return seen.anchors.get(decodeToken(reference.slice(1)))
  return reference
    .slice(2)
    .split("/")
    .map(decodeToken)
    .reduce<unknown>(
      (at, token) =>
        (isObject(at) || Array.isArray(at)) && Object.hasOwn(at, token)
          ? (Reflect.get(at, token) as unknown)
          : undefined,
      root,
    )
}

/** The index of a schema; a failure says why the schema is rejected. */
export const indexOf = (schema: JsonSchema): Result.Result<SchemaIndex, string> => {
  const seen: Seen = { anchors: new Map(), references: new Set(), patterns: new Map(), nodes: 0 }
  const problem = problemOf(seen, schema, 0)
  if (problem !== undefined) return Result.fail(problem)
  const targets = new Map<string, unknown>()
  for (const reference of seen.references) {
    const target = reference.startsWith("#") ? follow(schema, seen, reference) : undefined
    if (target === undefined) {
      return Result.fail(
        `the reference ${JSON.stringify(reference)} does not resolve within the schema`,
      )
    }
    targets.set(reference, target)
  }
  return Result.succeed({
    resolve: (reference) => targets.get(reference),
    pattern: (source) => seen.patterns.get(source),
  })
}
