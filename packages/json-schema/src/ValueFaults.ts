/**
 * The keywords that concern a value itself and not its parts: `const`, `enum`, bounds of numbers and of sizes,
 * `uniqueItems`. Pure.
 */
import type { Fault, NumberFault, Path, SizeFault } from "./Fault.ts"
import { canonical, isObject, type JsonSchema, numberOf } from "./JsonValues.ts"

/** The canonical text of a large value is made once, and that of a value that is no object never. */
const isOneOf = (allowed: ReadonlyArray<unknown>, value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return allowed.includes(value)
  const text = canonical(value)
  return allowed.some((one) => typeof one === "object" && canonical(one) === text)
}

/** Code points, as JSON Schema counts the length of a string. */
const lengthOf = (text: string): number => {
  let pairs = 0
  for (let i = 0; i < text.length; i++) {
    if ((text.codePointAt(i) ?? 0) > 0xffff) {
      pairs++
      i++
    }
  }
  return text.length - pairs
}

type SizeKeywords = readonly [min: SizeFault["keyword"], max: SizeFault["keyword"]]

const ofLength: SizeKeywords = ["minLength", "maxLength"]
const ofItems: SizeKeywords = ["minItems", "maxItems"]
const ofProperties: SizeKeywords = ["minProperties", "maxProperties"]

function* sizeFaults(
  schema: JsonSchema,
  [min, max]: SizeKeywords,
  size: number,
  path: Path,
): Generator<Fault> {
  const least = numberOf(schema[min])
  const most = numberOf(schema[max])
  if (least !== undefined && size < least) yield { keyword: min, path, size, expected: least }
  if (most !== undefined && size > most) yield { keyword: max, path, size, expected: most }
}

const bounds: ReadonlyArray<
  readonly [keyword: NumberFault["keyword"], ok: (value: number, bound: number) => boolean]
> = [
  ["minimum", (value, bound) => value >= bound],
  ["maximum", (value, bound) => value <= bound],
  ["exclusiveMinimum", (value, bound) => value > bound],
  ["exclusiveMaximum", (value, bound) => value < bound],
  ["multipleOf", (value, bound) => Number.isInteger(value / bound)],
]

function* numberFaults(schema: JsonSchema, value: number, path: Path): Generator<Fault> {
  for (const [keyword, ok] of bounds) {
    const expected = numberOf(schema[keyword])
    if (expected !== undefined && !ok(value, expected)) yield { keyword, path, value, expected }
  }
}

/** The faults of a value, whatever its parts are. */
export function* valueFaults(schema: JsonSchema, value: unknown, path: Path): Generator<Fault> {
  const keyword = "const" in schema ? "const" : "enum"
  const allowed = keyword === "const" ? [schema["const"]] : schema["enum"]
  if (Array.isArray(allowed) && !isOneOf(allowed, value)) {
    yield { keyword, path, value, expected: allowed }
  }
  if (typeof value === "number") yield* numberFaults(schema, value, path)
  if (typeof value === "string" && ("minLength" in schema || "maxLength" in schema)) {
    yield* sizeFaults(schema, ofLength, lengthOf(value), path)
  }
  if (Array.isArray(value)) {
    yield* sizeFaults(schema, ofItems, value.length, path)
    if (schema["uniqueItems"] === true && new Set(value.map(canonical)).size < value.length) {
      yield { keyword: "uniqueItems", path }
    }
  }
  if (isObject(value)) yield* sizeFaults(schema, ofProperties, Object.keys(value).length, path)
}
