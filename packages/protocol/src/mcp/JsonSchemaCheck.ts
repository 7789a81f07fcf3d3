/**
 * Checks values against a JSON Schema (2020-12, draft-07 alike as far as they agree) in bounded time and depth, and
 * tells faults in the words of `ToolArguments`. Fetches nothing: a reference leads into the schema itself, or the
 * schema is refused before any value is seen. So is one with a keyword that would be left unchecked.
 */
import * as Result from "effect/Result"
import type { JsonSchema } from "../JsonSchema.ts"
import type { Budget } from "../pattern/Pattern.ts"
import { actual, expectations, inPart, list, suggestion } from "./ArgumentTexts.ts"
import { indexOf, isObject, type SchemaIndex } from "./JsonSchemaIndex.ts"

/** Faults, in the order in which they are found; none when the value conforms. At most 20. */
export type Check = (value: unknown) => ReadonlyArray<string>

/** Schemas applied to one value and its members: far more than honest arguments need. */
const maxSteps = 100_000
/** Of all patterns together: a quarter of a second, or a text of some megabytes. */
const maxPatternSteps = 20_000_000
const maxDepth = 256
const maxFaults = 20

type Path = ReadonlyArray<string | number>

/** In part: the client made the names, and there may be several faults below one of them. */
const nameOf = (path: Path): string =>
  inPart(
    path.reduce<string>(
      (at, key) => (typeof key === "number" ? `${at}[${key}]` : at === "" ? key : `${at}.${key}`),
      "",
    ),
  )

const field = (path: Path): string => (path.length === 0 ? "" : ` (field \`${nameOf(path)}\`)`)

/** One value against one schema. */
class Run {
  private steps = 0
  private readonly budget: Budget = { left: maxPatternSteps }
  /** Set once the check was given up: then nothing is known of the value. */
  private given: string | undefined
  private readonly index: SchemaIndex
  constructor(index: SchemaIndex) {
    this.index = index
  }

  /** Faults of the whole value, or none. */
  faults(schema: unknown, value: unknown): ReadonlyArray<string> {
    const faults = this.check(schema, value)
    return this.given === undefined ? faults : [this.given]
  }

  private check(
    schema: unknown,
    value: unknown,
    path: Path = [],
    depth = 0,
  ): ReadonlyArray<string> {
    if (schema === true || !isObject(schema)) {
      return schema === false ? [`nothing is allowed here${field(path)}`] : []
    }
    if (++this.steps > maxSteps) this.given ??= "too much to check"
    if (depth > maxDepth) {
      this.given ??= `nested more than ${maxDepth} deep${field(path.slice(0, 8))}`
    }
    if (this.given !== undefined) return [this.given]
    const wrong = this.typeFault(schema, value, path)
    if (wrong !== undefined) return [wrong]
    const faults = [
      ...valueFaults(schema, value, path),
      ...this.patternFaults(schema, value, path),
      ...this.objectFaults(schema, value, path, depth + 1),
      ...this.arrayFaults(schema, value, path, depth + 1),
      ...this.logicFaults(schema, value, path, depth + 1),
    ]
    return faults.slice(0, maxFaults)
  }

  private fits(schema: unknown, value: unknown, depth: number): boolean {
    return this.check(schema, value, [], depth).length === 0
  }

  private typeFault(schema: JsonSchema, value: unknown, path: Path): string | undefined {
    const types = typesOf(schema)
    if (types.length === 0 || types.some((type) => isOfType(type, value))) return undefined
    const expected = types.map((type) => expectations[type] ?? type).join(" or ")
    return `invalid type: ${actual(value)}, expected ${expected}${field(path)}`
  }

  /** What cannot be found out in the time there is does not match, and the whole check is given up. */
  private matches(pattern: string, text: string): boolean {
    const found = this.index.pattern(pattern)?.test(text, this.budget)
    if (found === undefined) this.given ??= "too much to check"
    return found === true
  }

  private patternFaults({ pattern }: JsonSchema, value: unknown, path: Path) {
    if (typeof pattern !== "string" || typeof value !== "string") return []
    return this.matches(pattern, value)
      ? []
      : [`invalid value: ${actual(value)}, expected what matches \`${pattern}\`${field(path)}`]
  }

  private objectFaults(schema: JsonSchema, value: unknown, path: Path, depth: number) {
    if (!isObject(value)) return []
    const faults: Array<string> = []
    const properties = isObject(schema["properties"]) ? schema["properties"] : {}
    const patterns = entries(schema["patternProperties"])
    for (const name of strings(schema["required"])) {
      if (!Object.hasOwn(value, name)) faults.push(missing([...path, name], properties[name]))
    }
    for (const [name, needed] of entries(schema["dependentRequired"])) {
      if (!Object.hasOwn(value, name)) continue
      for (const other of strings(needed)) {
        if (!Object.hasOwn(value, other)) faults.push(missing([...path, other], properties[other]))
      }
    }
    for (const [name, dependent] of entries(schema["dependentSchemas"])) {
      if (Object.hasOwn(value, name)) faults.push(...this.check(dependent, value, path, depth))
    }
    for (const [name, member] of Object.entries(value)) {
      if (this.given !== undefined || faults.length > maxFaults) break
      const at = [...path, name]
      const named = Object.hasOwn(properties, name)
      const matching = patterns.filter(([pattern]) => this.matches(pattern, name))
      if (schema["propertyNames"] !== undefined) {
        faults.push(...this.check(schema["propertyNames"], name, at, depth))
      }
      if (named) faults.push(...this.check(properties[name], member, at, depth))
      for (const [, one] of matching) faults.push(...this.check(one, member, at, depth))
      if (named || matching.length > 0) continue
      if (schema["additionalProperties"] === false) faults.push(unknown(at, name, properties))
      else faults.push(...this.check(schema["additionalProperties"] ?? true, member, at, depth))
    }
    return faults
  }

  private arrayFaults(schema: JsonSchema, value: unknown, path: Path, depth: number) {
    if (!Array.isArray(value)) return []
    const items: ReadonlyArray<unknown> = value
    const faults: Array<string> = []
    const first: ReadonlyArray<unknown> = Array.isArray(schema["prefixItems"])
      ? schema["prefixItems"]
      : []
    for (const [i, item] of items.entries()) {
      const one = i < first.length ? first[i] : (schema["items"] ?? true)
      faults.push(...this.check(one, item, [...path, i], depth))
      if (faults.length > maxFaults) return faults
    }
    if (schema["contains"] !== undefined) {
      const found = items.filter((item) => this.fits(schema["contains"], item, depth)).length
      const least = number(schema["minContains"]) ?? 1
      const most = number(schema["maxContains"]) ?? Number.POSITIVE_INFINITY
      if (found < least || found > most) {
        faults.push(`${found} of the items are as expected of ${least} to ${most}${field(path)}`)
      }
    }
    return faults
  }

  private logicFaults(schema: JsonSchema, value: unknown, path: Path, depth: number) {
    const faults: Array<string> = []
    const ref = schema["$ref"]
    if (typeof ref === "string") {
      faults.push(...this.check(this.index.resolve(ref), value, path, depth))
    }
    for (const one of schemas(schema["allOf"])) faults.push(...this.check(one, value, path, depth))
    for (const key of ["anyOf", "oneOf"]) {
      const alternatives = schemas(schema[key])
      if (alternatives.length === 0) continue
      const found = alternatives.map((one) => this.check(one, value, path, depth))
      const fitting = found.filter((of) => of.length === 0).length
      if (fitting === 0) faults.push(...nearestOf(found))
      else if (key === "oneOf" && fitting > 1) {
        faults.push(`fits ${fitting} of the alternatives, expected one${field(path)}`)
      }
    }
    if (schema["not"] !== undefined && this.fits(schema["not"], value, depth)) {
      faults.push(`${actual(value)} is not allowed${field(path)}`)
    }
    if (schema["if"] !== undefined) {
      const next = this.fits(schema["if"], value, depth) ? schema["then"] : schema["else"]
      faults.push(...this.check(next ?? true, value, path, depth))
    }
    return faults
  }
}

/** What a person would have to mend least. */
const nearestOf = (found: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> =>
  found.reduce((best, one) => (one.length < best.length ? one : best))

const strings = (u: unknown): ReadonlyArray<string> =>
  Array.isArray(u) ? u.filter((one) => typeof one === "string") : []
const schemas = (u: unknown): ReadonlyArray<unknown> => (Array.isArray(u) ? u : [])
const entries = (u: unknown): ReadonlyArray<readonly [string, unknown]> =>
  isObject(u) ? Object.entries(u) : []
const number = (u: unknown): number | undefined => (typeof u === "number" ? u : undefined)

const typesOf = ({ type }: JsonSchema): ReadonlyArray<string> =>
  typeof type === "string" ? [type] : strings(type)

const isOfType = (type: string, value: unknown): boolean => {
  switch (type) {
    case "null":
      return value === null
    case "array":
      return Array.isArray(value)
    case "object":
      return isObject(value)
    case "integer":
      return Number.isInteger(value)
    case "number":
      return typeof value === "number"
    default:
      return typeof value === type
  }
}

const missing = (path: Path, schema: unknown): string => {
  const [type] = isObject(schema) ? typesOf(schema) : []
  const expected = type === undefined ? "" : ` (expected ${expectations[type] ?? type})`
  return `missing field \`${nameOf(path)}\`${expected}`
}

const unknown = (path: Path, name: string, properties: JsonSchema): string => {
  const known = Object.keys(properties)
  const near = suggestion(name, known)
  const instead = known.length === 0 ? ", expected none" : `, expected one of ${list(known)}`
  return `unknown field \`${nameOf(path)}\`${near || instead}`
}

const canonical = (u: unknown): string =>
  JSON.stringify(u, (_, value: unknown) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  ) ?? ""

/** Of a large value the text is made once, and of what is no object never. */
const isOneOf = (allowed: ReadonlyArray<unknown>, value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return allowed.includes(value)
  const text = canonical(value)
  return allowed.some((one) => typeof one === "object" && canonical(one) === text)
}

/** Code points, as JSON Schema counts them. */
const charactersOf = (text: string): number => {
  let pairs = 0
  for (let i = 0; i < text.length; i++) {
    if ((text.codePointAt(i) ?? 0) > 0xffff) {
      pairs++
      i++
    }
  }
  return text.length - pairs
}

const spelled = (u: unknown): string => (typeof u === "string" ? u : JSON.stringify(u))

/** Of the value alone, whatever is in it. */
function* valueFaults(schema: JsonSchema, value: unknown, path: Path): Generator<string> {
  const allowed = "const" in schema ? [schema["const"]] : schema["enum"]
  if (Array.isArray(allowed) && !isOneOf(allowed, value)) {
    const known = allowed.map(spelled)
    yield typeof value === "string"
      ? `unknown variant \`${value.slice(0, 80)}\`, expected one of ${list(known)}${suggestion(value, known)}${field(path)}`
      : `invalid value: ${actual(value)}, expected one of ${list(known)}${field(path)}`
  }
  if (typeof value === "number") yield* numberFaults(schema, value, path)
  if (typeof value === "string" && ("minLength" in schema || "maxLength" in schema)) {
    yield* sizeFaults(schema, "Length", "characters", charactersOf(value), path)
  }
  if (Array.isArray(value)) {
    yield* sizeFaults(schema, "Items", "items", value.length, path)
    if (schema["uniqueItems"] === true && new Set(value.map(canonical)).size < value.length) {
      yield `an item is there twice${field(path)}`
    }
  }
  if (isObject(value)) {
    yield* sizeFaults(schema, "Properties", "members", Object.keys(value).length, path)
  }
}

function* sizeFaults(schema: JsonSchema, key: string, of: string, size: number, path: Path) {
  const least = number(schema[`min${key}`])
  const most = number(schema[`max${key}`])
  if (least !== undefined && size < least) {
    yield `${size} ${of}, expected at least ${least}${field(path)}`
  }
  if (most !== undefined && size > most) {
    yield `${size} ${of}, expected at most ${most}${field(path)}`
  }
}

function* numberFaults(schema: JsonSchema, value: number, path: Path): Generator<string> {
  const bounds: ReadonlyArray<readonly [key: string, words: string, ok: (n: number) => boolean]> = [
    ["minimum", "at least", (n) => value >= n],
    ["maximum", "at most", (n) => value <= n],
    ["exclusiveMinimum", "more than", (n) => value > n],
    ["exclusiveMaximum", "less than", (n) => value < n],
    ["multipleOf", "a multiple of", (n) => Number.isInteger(value / n)],
  ]
  for (const [key, words, ok] of bounds) {
    const bound = number(schema[key])
    if (bound !== undefined && !ok(bound)) {
      yield `invalid value: ${actual(value)}, expected ${words} ${bound}${field(path)}`
    }
  }
}

/** The check of a schema, or what is wrong with the schema. */
export const compile = (schema: JsonSchema): Result.Result<Check, string> =>
  Result.map(indexOf(schema), (index) => (value) => new Run(index).faults(schema, value))
