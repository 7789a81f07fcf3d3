/**
 * Checks values against a JSON Schema (draft 2020-12, and draft-07 as far as the two agree) in bounded time and depth, and
 * gives the faults as data. Fetches nothing: a reference must resolve within the schema, or the schema is rejected before
 * any value is checked. A schema with a keyword that this package does not check is rejected as well, so that no
 * constraint is ignored silently. Keeps L13: neither a schema nor a value can make a check run long.
 */
import * as Result from "effect/Result"
import type { Fault, Path } from "./Fault.ts"
import {
  elementsOf,
  entriesOf,
  isObject,
  isOfType,
  type JsonSchema,
  numberOf,
  stringsOf,
  typesOf,
} from "./JsonValues.ts"
import type { Budget } from "./pattern/Pattern.ts"
import { indexOf, type SchemaIndex } from "./SchemaIndex.ts"
import { valueFaults } from "./ValueFaults.ts"

/**
 * Gives the faults of a value, in the order in which they are found, about 20 at most; none when the value conforms. A
 * check that exceeds its limits gives a single fault with the keyword `limit`.
 */
export type Check = (value: unknown) => ReadonlyArray<Fault>

/** Applications of a schema to a value or a part of it: far more than honest values need. */
const maxSteps = 100_000
/** Steps of all patterns together: a quarter of a second, or a text of some megabytes. */
const maxPatternSteps = 20_000_000
const maxDepth = 256
const maxFaults = 20
/** Path elements in a fault about depth: it shows where the nesting starts. */
const shownDepth = 8

/** Checks one value against one schema. */
class Run {
  private steps = 0
  private readonly budget: Budget = { left: maxPatternSteps }
  /** Set when a limit was exceeded; nothing is known of the value then. */
  private exceeded: Fault | undefined
  private readonly index: SchemaIndex
  constructor(index: SchemaIndex) {
    this.index = index
  }

  /** The faults of the whole value. */
  faults(schema: unknown, value: unknown): ReadonlyArray<Fault> {
    const faults = this.check(schema, value)
    return this.exceeded === undefined ? faults : [this.exceeded]
  }

  private check(schema: unknown, value: unknown, path: Path = [], depth = 0): ReadonlyArray<Fault> {
    if (schema === true || !isObject(schema)) {
      return schema === false ? [{ keyword: "false", path }] : []
    }
    if (++this.steps > maxSteps) this.exceedSteps()
    if (depth > maxDepth) {
      const start = path.slice(0, shownDepth)
      this.exceeded ??= { keyword: "limit", limit: "depth", expected: maxDepth, path: start }
    }
    if (this.exceeded !== undefined) return [this.exceeded]
    const types = typesOf(schema)
    if (types.length > 0 && !types.some((type) => isOfType(type, value))) {
      return [{ keyword: "type", path, value, expected: types }]
    }
    const faults = [
      ...valueFaults(schema, value, path),
      ...this.patternFaults(schema, value, path),
      ...this.objectFaults(schema, value, path, depth + 1),
      ...this.arrayFaults(schema, value, path, depth + 1),
      ...this.logicFaults(schema, value, path, depth + 1),
    ]
    return faults.slice(0, maxFaults)
  }

  private exceedSteps(): void {
    this.exceeded ??= { keyword: "limit", limit: "steps", expected: maxSteps, path: [] }
  }

  private fits(schema: unknown, value: unknown, depth: number): boolean {
    return this.check(schema, value, [], depth).length === 0
  }

  /** A text that cannot be matched within the budget does not match, and the whole check is abandoned. */
  private matches(pattern: string, text: string): boolean {
    const found = this.index.pattern(pattern)?.test(text, this.budget)
    if (found === undefined) this.exceedSteps()
    return found === true
  }

  private patternFaults({ pattern }: JsonSchema, value: unknown, path: Path): ReadonlyArray<Fault> {
    if (typeof pattern !== "string" || typeof value !== "string") return []
    return this.matches(pattern, value)
      ? []
      : [{ keyword: "pattern", path, value, expected: pattern }]
  }

  private objectFaults(
    schema: JsonSchema,
    value: unknown,
    path: Path,
    depth: number,
  ): ReadonlyArray<Fault> {
    if (!isObject(value)) return []
    const faults = missingFaults(schema, value, path)
    for (const [name, dependent] of entriesOf(schema["dependentSchemas"])) {
      if (Object.hasOwn(value, name)) faults.push(...this.check(dependent, value, path, depth))
    }
    const patterns = entriesOf(schema["patternProperties"])
    for (const [name, member] of Object.entries(value)) {
      if (this.exceeded !== undefined || faults.length > maxFaults) break
      faults.push(...this.memberFaults(schema, patterns, name, member, [...path, name], depth))
    }
    return faults
  }

  private memberFaults(
    schema: JsonSchema,
    patterns: ReadonlyArray<readonly [pattern: string, schema: unknown]>,
    name: string,
    member: unknown,
    path: Path,
    depth: number,
  ): ReadonlyArray<Fault> {
    const faults: Array<Fault> = []
    const properties = propertiesOf(schema)
    const named = Object.hasOwn(properties, name)
    const matching = patterns.filter(([pattern]) => this.matches(pattern, name))
    if (schema["propertyNames"] !== undefined) {
      faults.push(...this.check(schema["propertyNames"], name, path, depth))
    }
    if (named) faults.push(...this.check(properties[name], member, path, depth))
    for (const [, one] of matching) faults.push(...this.check(one, member, path, depth))
    if (named || matching.length > 0) return faults
    if (schema["additionalProperties"] === false) {
      const known = Object.keys(properties)
      faults.push({ keyword: "additionalProperties", path, name, known })
    } else faults.push(...this.check(schema["additionalProperties"] ?? true, member, path, depth))
    return faults
  }

  private arrayFaults(
    schema: JsonSchema,
    value: unknown,
    path: Path,
    depth: number,
  ): ReadonlyArray<Fault> {
    if (!Array.isArray(value)) return []
    const items: ReadonlyArray<unknown> = value
    const faults: Array<Fault> = []
    const first = elementsOf(schema["prefixItems"])
    for (const [i, item] of items.entries()) {
      const one = i < first.length ? first[i] : (schema["items"] ?? true)
      faults.push(...this.check(one, item, [...path, i], depth))
      if (faults.length > maxFaults) return faults
    }
    if (schema["contains"] !== undefined) {
      const found = items.filter((item) => this.fits(schema["contains"], item, depth)).length
      const min = numberOf(schema["minContains"]) ?? 1
      const max = numberOf(schema["maxContains"]) ?? Number.POSITIVE_INFINITY
      if (found < min || found > max) faults.push({ keyword: "contains", path, found, min, max })
    }
    return faults
  }

  private logicFaults(
    schema: JsonSchema,
    value: unknown,
    path: Path,
    depth: number,
  ): ReadonlyArray<Fault> {
    const faults: Array<Fault> = []
    const ref = schema["$ref"]
    if (typeof ref === "string") {
      faults.push(...this.check(this.index.resolve(ref), value, path, depth))
    }
    for (const one of elementsOf(schema["allOf"])) {
      faults.push(...this.check(one, value, path, depth))
    }
    for (const keyword of ["anyOf", "oneOf"]) {
      const alternatives = elementsOf(schema[keyword])
      if (alternatives.length === 0) continue
      const found = alternatives.map((one) => this.check(one, value, path, depth))
      const matching = found.filter((of) => of.length === 0).length
      if (matching === 0) faults.push(...fewest(found))
      else if (keyword === "oneOf" && matching > 1) faults.push({ keyword, path, matching })
    }
    if (schema["not"] !== undefined && this.fits(schema["not"], value, depth)) {
      faults.push({ keyword: "not", path, value })
    }
    if (schema["if"] !== undefined) {
      const next = this.fits(schema["if"], value, depth) ? schema["then"] : schema["else"]
      faults.push(...this.check(next ?? true, value, path, depth))
    }
    return faults
  }
}

const propertiesOf = ({ properties }: JsonSchema): JsonSchema =>
  isObject(properties) ? properties : {}

/** `required` and `dependentRequired`. */
const missingFaults = (schema: JsonSchema, value: JsonSchema, path: Path): Array<Fault> => {
  const properties = propertiesOf(schema)
  const missing = (keyword: "required" | "dependentRequired", names: ReadonlyArray<string>) =>
    names.flatMap((name): ReadonlyArray<Fault> => {
      if (Object.hasOwn(value, name)) return []
      const property = properties[name]
      const [expected] = isObject(property) ? typesOf(property) : []
      const at = [...path, name]
      return [{ keyword, path: at, ...(expected === undefined ? {} : { expected }) }]
    })
  return [
    ...missing("required", stringsOf(schema["required"])),
    ...entriesOf(schema["dependentRequired"]).flatMap(([name, needed]) =>
      Object.hasOwn(value, name) ? missing("dependentRequired", stringsOf(needed)) : [],
    ),
  ]
}

/** The faults of the alternative that has the fewest: it is the one that was probably meant. */
const fewest = (found: ReadonlyArray<ReadonlyArray<Fault>>): ReadonlyArray<Fault> =>
  found.reduce((best, one) => (one.length < best.length ? one : best))

/** Prepares the check of a schema; a failure says why the schema is rejected. */
export const compile = (schema: JsonSchema): Result.Result<Check, string> =>
  Result.map(indexOf(schema), (index) => (value) => new Run(index).faults(schema, value))

/** Checks one value, for a schema that is used once; a failure says why the schema is rejected. */
export const check = (
  schema: JsonSchema,
  value: unknown,
): Result.Result<ReadonlyArray<Fault>, string> =>
  Result.map(compile(schema), (checkValue) => checkValue(value))
