import { compile } from "@colloquy/json-schema/SchemaCheck"
import type { JsonSchema } from "@colloquy/protocol/JsonSchema"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { schemaFaultText } from "../../src/turn/SchemaFaultText.ts"

const faults = (schema: JsonSchema, value: unknown): ReadonlyArray<string> =>
  Result.getOrThrow(compile(schema))(value).map(schemaFaultText)

const problem = (schema: JsonSchema): string =>
  Result.match(compile(schema), { onSuccess: () => "none", onFailure: (text) => text })

const person = {
  type: "object",
  properties: { name: { type: "string", minLength: 2 }, age: { type: "integer", minimum: 0 } },
  required: ["name"],
  additionalProperties: false,
}

const nested = (depth: number): JsonSchema => {
  let value: JsonSchema = {}
  for (let i = 0; i < depth; i++) value = { next: value }
  return value
}

type Case = readonly [schema: JsonSchema, good: unknown, bad: unknown, ...faults: Array<string>]

// oxlint-disable unicorn/no-thenable -- a keyword of JSON Schema
const cases: ReadonlyArray<Case> = [
  [person, { name: "Jo" }, {}, "missing field `name` (expected a string)"],
  [
    person,
    { name: "Jo", age: 3 },
    { nme: 1 },
    "missing field `name` (expected a string)",
    "unknown field `nme`, did you mean `name`?",
  ],
  [
    person,
    { name: "Jo" },
    { name: 7 },
    "invalid type: integer `7`, expected a string (field `name`)",
  ],
  [
    person,
    { name: "Jo" },
    { name: "J", age: -1 },
    "1 characters, expected at least 2 (field `name`)",
    "invalid value: integer `-1`, expected at least 0 (field `age`)",
  ],
  [
    { enum: ["a", "b"] },
    "a",
    "c",
    "unknown variant `c`, expected one of `a`, `b`, did you mean `a`?",
  ],
  [
    { const: { a: 1, b: 2 } },
    { b: 2, a: 1 },
    1,
    'invalid value: integer `1`, expected one of `{"a":1,"b":2}`',
  ],
  [{ type: ["string", "null"] }, null, 1, "invalid type: integer `1`, expected a string or null"],
  [
    { type: "array", items: { type: "integer" }, maxItems: 2, uniqueItems: true },
    [1, 2],
    [1, "x", 1],
    "3 items, expected at most 2",
    "the items are not unique",
    'invalid type: string "x", expected an integer (field `[1]`)',
  ],
  [
    { prefixItems: [{ type: "string" }], items: false },
    ["a"],
    ["a", 1],
    "no value is allowed here (field `[1]`)",
  ],
  [
    { contains: { type: "string" }, maxContains: 1 },
    [1, "a"],
    ["a", "b"],
    "2 of the items match `contains`, expected 1 to 1",
  ],
  [{ anyOf: [{ required: ["a"] }, { required: ["b"] }] }, { b: 1 }, {}, "missing field `a`"],
  [
    { oneOf: [{ minimum: 1 }, { maximum: 3 }] },
    0,
    2,
    "matches 2 of the alternatives, expected exactly one",
  ],
  [{ not: { type: "string" } }, 1, "x", 'string "x" is not allowed'],
  [
    {
      if: { properties: { kind: { const: "a" } } },
      then: { required: ["x"] },
      else: { required: ["y"] },
    },
    { kind: "a", x: 1 },
    { kind: "b" },
    "missing field `y`",
  ],
  [
    { dependentRequired: { a: ["b"] }, dependentSchemas: { c: { required: ["d"] } } },
    { a: 1, b: 1 },
    { a: 1, c: 1 },
    "missing field `b`",
    "missing field `d`",
  ],
  [
    { patternProperties: { "^n": { type: "number" } }, additionalProperties: { type: "string" } },
    { n1: 1, s: "" },
    { n1: "", s: 1 },
    'invalid type: string "", expected a number (field `n1`)',
    "invalid type: integer `1`, expected a string (field `s`)",
  ],
  [
    { propertyNames: { maxLength: 1 } },
    { a: 1 },
    { ab: 1 },
    "2 characters, expected at most 1 (field `ab`)",
  ],
  [{ minProperties: 1 }, { a: 1 }, {}, "0 members, expected at least 1"],
  [
    { pattern: "^\\d+$" },
    "12",
    "1a",
    'invalid value: string "1a", expected a string that matches `^\\d+$`',
  ],
  [{ multipleOf: 5 }, 10, 11, "invalid value: integer `11`, expected a multiple of 5"],
  [
    { exclusiveMinimum: 1, exclusiveMaximum: 2 },
    1.5,
    2,
    "invalid value: integer `2`, expected less than 2",
  ],
  [
    { $ref: "#/$defs/a~1b", $defs: { "a/b": { type: "string" } } },
    "x",
    1,
    "invalid type: integer `1`, expected a string",
  ],
  [
    { properties: { p: { $ref: "#adr" } }, $defs: { adr: { $anchor: "adr", type: "null" } } },
    { p: null },
    { p: 1 },
    "invalid type: integer `1`, expected null (field `p`)",
  ],
  [
    { allOf: [{ minimum: 1 }, { maximum: 2 }] },
    1,
    3,
    "invalid value: integer `3`, expected at most 2",
  ],
]
// oxlint-enable unicorn/no-thenable

describe("SchemaFaultText", () => {
  for (const [i, [schema, good, bad, ...expected]] of cases.entries()) {
    it(`accepts a value that conforms and reports the faults of one that does not, ${i}`, () => {
      assert.deepStrictEqual(faults(schema, good), [])
      assert.deepStrictEqual(faults(schema, bad), expected)
    })
  }

  it.each<readonly [schema: JsonSchema, problem: string]>([
    [
      { $ref: "https://example.com/schema.json" },
      'the reference "https://example.com/schema.json" does not resolve within the schema',
    ],
    [
      { items: { $ref: "#/nowhere" } },
      'the reference "#/nowhere" does not resolve within the schema',
    ],
    [{ $ref: "#/constructor" }, 'the reference "#/constructor" does not resolve within the schema'],
    [{ $schema: "https://example.com/own" }, 'unknown schema dialect "https://example.com/own"'],
    [{ unevaluatedProperties: false }, "the keyword `unevaluatedProperties` is not supported"],
    [{ properties: { a: { pattern: "(" } } }, "`(` is not a valid regular expression"],
    [{ properties: { a: { pattern: "(a)\\1" } } }, "`(a)\\1` contains a back-reference"],
    [{ patternProperties: { "[": true } }, "`[` is not a valid regular expression"],
    [{ properties: { a: 1 } }, "expected an object or a boolean as a schema"],
    [{ items: nested(80) }, "nested more than 64 levels deep"],
    [
      { properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, {}])) },
      "contains more than 10000 schemas",
    ],
  ])("rejects a schema that it cannot check completely, %#", (schema, expected) => {
    assert.strictEqual(problem(schema), expected)
  })

  it("does not read data that looks like a schema", () => {
    const schema = { const: { $ref: "https://example.com" }, default: { $schema: "x" } }
    assert.deepStrictEqual(faults(schema, { $ref: "https://example.com" }), [])
  })

  it("L13 values 1,000 levels deep and recursive schemas end in a fault", () => {
    const list = { properties: { next: { $ref: "#" } } }
    assert.deepStrictEqual(faults(list, nested(100)), [])
    const deep = faults(list, nested(1000))
    assert.lengthOf(deep, 1)
    assert.match(deep[0] ?? "", /^nested more than 256 levels deep \(field `next\.next/)
    assert.deepStrictEqual(faults({ $ref: "#" }, 1), ["nested more than 256 levels deep"])
    assert.deepStrictEqual(faults({ const: nested(1000) }, nested(1000)), [])
  })

  it("L13 a check that would not finish ends in a fault, also where the value has a fault", () => {
    const next = { properties: { next: { $ref: "#" } } }
    const twice = { allOf: [next, next, next] }
    assert.deepStrictEqual(faults(twice, nested(8)), [])
    assert.deepStrictEqual(faults(twice, nested(40)), ["too large to check"])
    assert.deepStrictEqual(faults({ not: { $ref: "#" } }, 1), ["nested more than 256 levels deep"])
    const many = Array.from({ length: 1_000_000 }, () => 1)
    assert.deepStrictEqual(faults({ items: { type: "integer" } }, many), ["too large to check"])
    assert.lengthOf(faults({ items: { type: "string" } }, many), 20)
  })

  it("L13 the cost of a pattern is linear in the text, and all patterns together have a limit", () => {
    const evil = { type: "string", pattern: "^(a+)+$" }
    assert.deepStrictEqual(faults(evil, "a".repeat(100_000)), [])
    assert.lengthOf(faults(evil, `${"a".repeat(100_000)}!`), 1)
    assert.deepStrictEqual(faults(evil, "a".repeat(20_000_000)), ["too large to check"])
    const names = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`^${i}(a|a)*$`, true]))
    const members = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 1]))
    assert.deepStrictEqual(faults({ patternProperties: names }, members), ["too large to check"])
  })

  it("L13 names from the client are shortened", () => {
    const long = "n".repeat(100_000)
    const value = { [long]: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${i}`, 1])) }
    const found = faults({ additionalProperties: { additionalProperties: false } }, value)
    assert.deepStrictEqual(
      [found.length, found[0]],
      [20, `unknown field \`${"n".repeat(256)}…\`, expected none`],
    )
  })
})
