/**
 * Converts the parameters of a server's tool to a schema that every provider accepts. Pure, and bounded whatever the
 * server sent: in depth, in number of parts and in size. Never follows a reference out of the schema, never fails.
 *
 * Like the original: a missing `type` is inferred, `integer` becomes `number`, objects get `properties`, arrays
 * `items`. Unlike it: where `anyOf`, `oneOf` or `allOf` say the type none is inferred (it would contradict them),
 * enumerations are kept, and references within the schema are replaced by their target (otherwise a parameter would
 * become a string).
 */

/** A JSON Schema as a JSON object. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Deep enough for schemas in use, and far from the limit of the stack. */
const maxDepth = 32
const maxNodes = 5_000
const maxNames = 1_000
const maxTextChars = 4_096
/** Limit of the whole schema as JSON, because every request carries it. */
const maxChars = 128 * 1024

const combinators = ["anyOf", "oneOf", "allOf"]
const numbers = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
]
const texts = ["title", "description", "format", "pattern"]
const types = ["string", "number", "boolean", "object", "array", "null"]

const keywords = [
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "const",
  "default",
  ...combinators,
  ...numbers,
  ...texts,
]

const anything: JsonSchema = { type: "object", properties: {} }

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const cut = (text: string): string =>
  text.length <= maxTextChars ? text : `${text.slice(0, maxTextChars).toWellFormed()}…`

const isShortScalar = (u: unknown): boolean =>
  u === null ||
  typeof u === "boolean" ||
  typeof u === "number" ||
  (typeof u === "string" && u.length <= maxTextChars)

/** The part that a reference within the schema names; undefined for one that leads out of it. */
const pointedAt = (root: unknown, reference: string): unknown => {
  if (!reference.startsWith("#/") || reference.length > maxTextChars) return undefined
  let at: unknown = root
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~")
    if (!isRecord(at) || !Object.hasOwn(at, key)) return undefined
    at = at[key]
  }
  return at
}

const oneType = (type: unknown): string | undefined => {
  const name = type === "integer" ? "number" : type
  return types.find((known) => known === name)
}

const inferred = (schema: JsonSchema): string | ReadonlyArray<string> | undefined => {
  const { type } = schema
  const known = oneType(type)
  if (known !== undefined) return known
  if (Array.isArray(type)) {
    const several = [...new Set(type.slice(0, 16).flatMap((each) => oneType(each) ?? []))]
    if (several.length > 1) return several
    if (several[0] !== undefined) return several[0]
  }
  if ("properties" in schema) return "object"
  if ("items" in schema) return "array"
  return combinators.some((key) => Array.isArray(schema[key])) ? undefined : "string"
}

interface Walk {
  readonly root: unknown
  /** References being replaced: one that refers to itself becomes a schema of any object. */
  readonly open: ReadonlyArray<string>
  readonly depth: number
  readonly budget: { nodes: number }
}

/** Copies only what is read later: copying all of a wide schema for each reference would take unbounded time. */
const keywordsOf = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(
    keywords.flatMap((key) => (Object.hasOwn(schema, key) ? [[key, schema[key]]] : [])),
  )

const resolved = (walk: Walk, schema: JsonSchema): readonly [JsonSchema, Walk] | undefined => {
  const { $ref } = schema
  const rest = keywordsOf(schema)
  if (typeof $ref !== "string") return [rest, walk]
  const target = pointedAt(walk.root, $ref)
  if (!isRecord(target)) return [rest, walk]
  if (walk.open.includes($ref)) return undefined
  // A chain of references counts as deep as it is long.
  const next = { ...walk, depth: walk.depth + 1, open: [...walk.open, $ref] }
  return "$ref" in target && next.depth < maxDepth
    ? resolved(next, { $ref: target["$ref"], ...keywordsOf(target), ...rest })
    : [{ ...keywordsOf(target), ...rest }, next]
}

/** Keywords without subschemas, kept when they have the right type. */
const plainParts = (schema: JsonSchema): ReadonlyArray<readonly [string, unknown]> => {
  const out: Array<readonly [string, unknown]> = []
  for (const key of texts) {
    const value = schema[key]
    if (typeof value === "string") out.push([key, cut(value)])
  }
  for (const key of numbers) if (typeof schema[key] === "number") out.push([key, schema[key]])
  for (const key of ["const", "default"]) {
    if (key in schema && isShortScalar(schema[key])) out.push([key, schema[key]])
  }
  const choices = schema["enum"]
  if (Array.isArray(choices) && choices.length <= maxNames && choices.every(isShortScalar)) {
    if (choices.length > 0) out.push(["enum", choices])
  }
  return out
}

const objectParts = (walk: Walk, schema: JsonSchema): ReadonlyArray<readonly [string, unknown]> => {
  const given = isRecord(schema["properties"]) ? schema["properties"] : {}
  const all = Object.keys(given)
  // Reading the names of a wide object repeatedly is work as well.
  walk.budget.nodes -= Math.floor(all.length / 10)
  const names = all.filter((name) => name.length <= maxTextChars).slice(0, maxNames)
  // `fromEntries` defines properties, so one named `__proto__` is like others.
  const properties = Object.fromEntries(names.map((name) => [name, visit(walk, given[name])]))
  const out: Array<readonly [string, unknown]> = [["properties", properties]]
  const { additionalProperties, required } = schema
  if (Array.isArray(required)) {
    const some = new Set<unknown>(required.slice(0, maxNames))
    out.push(["required", names.filter((name) => some.has(name))])
  }
  if (typeof additionalProperties === "boolean") {
    out.push(["additionalProperties", additionalProperties])
  } else if (isRecord(additionalProperties)) {
    out.push(["additionalProperties", visit(walk, additionalProperties)])
  }
  return out
}

/** The schema of one value; what is too deep or too much becomes an object of any kind. */
const visit = (from: Walk, given: unknown): JsonSchema => {
  if (!isRecord(given)) return { type: "string" }
  if (from.depth >= maxDepth || from.budget.nodes <= 0) return anything
  from.budget.nodes--
  const found = resolved(from, given)
  if (found === undefined) return anything
  const [schema, { depth, ...rest }] = found
  const walk = { ...rest, depth: depth + 1 }
  const type = inferred(schema)
  const has = (name: string) => type === name || (Array.isArray(type) && type.includes(name))
  const out: Array<readonly [string, unknown]> = type === undefined ? [] : [["type", type]]
  out.push(...plainParts(schema))
  if (has("object")) out.push(...objectParts(walk, schema))
  if (has("array")) {
    const { items } = schema
    out.push(["items", visit(walk, Array.isArray(items) ? items[0] : items)])
  }
  for (const key of combinators) {
    const choices = schema[key]
    if (Array.isArray(choices) && choices.length > 0) {
      out.push([key, choices.slice(0, 100).map((choice) => visit(walk, choice))])
    }
  }
  return Object.fromEntries(out)
}

/**
 * The parameters as the model reads them: always the schema of an object. What is no schema, or stays larger than
 * 128 Ki characters, becomes an object of any kind; the server then checks the arguments.
 */
export const sanitize = (schema: unknown): JsonSchema => {
  if (!isRecord(schema)) return anything
  const walk: Walk = { root: schema, open: [], depth: 0, budget: { nodes: maxNodes } }
  const out = visit(walk, { ...schema, type: "object" })
  return JSON.stringify(out).length <= maxChars ? out : anything
}
