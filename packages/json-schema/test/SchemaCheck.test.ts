import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type { Fault } from "../src/Fault.ts"
import { check, compile } from "../src/SchemaCheck.ts"

const faultsOf = (schema: Readonly<Record<string, unknown>>, value: unknown) =>
  Result.getOrThrow(check(schema, value))

const person = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2 },
    tags: { type: "array", items: { enum: ["a", "b"] }, uniqueItems: true },
  },
  required: ["name"],
  additionalProperties: false,
}

type Case = readonly [
  name: string,
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  ...faults: ReadonlyArray<Fault>,
]

const cases: ReadonlyArray<Case> = [
  ["a value that conforms has none", person, { name: "Jo", tags: ["a"] }],
  [
    "a missing member is named by its path, with its type",
    { properties: { p: person } },
    { p: {} },
    { keyword: "required", path: ["p", "name"], expected: "string" },
  ],
  [
    "an unknown member comes with the known ones",
    person,
    { name: "Jo", nam: 1 },
    { keyword: "additionalProperties", path: ["nam"], name: "nam", known: ["name", "tags"] },
  ],
  [
    "several faults come in the order of the members",
    person,
    { name: "J", tags: ["a", "c", "a"] },
    { keyword: "minLength", path: ["name"], size: 1, expected: 2 },
    { keyword: "uniqueItems", path: ["tags"] },
    { keyword: "enum", path: ["tags", 1], value: "c", expected: ["a", "b"] },
  ],
  [
    "a wrong type is the only fault of its value",
    { type: ["string", "null"], minimum: 9 },
    1,
    { keyword: "type", path: [], value: 1, expected: ["string", "null"] },
  ],
  [
    "a constant is compared by its contents",
    { const: { a: 1, b: 2 } },
    { b: 2, a: 2 },
    { keyword: "const", path: [], value: { b: 2, a: 2 }, expected: [{ a: 1, b: 2 }] },
  ],
  [
    "a bound of a number",
    { exclusiveMaximum: 2 },
    2,
    { keyword: "exclusiveMaximum", path: [], value: 2, expected: 2 },
  ],
  [
    "a pattern",
    { pattern: "^a+$" },
    "b",
    { keyword: "pattern", path: [], value: "b", expected: "^a+$" },
  ],
  [
    "`contains` without an upper bound",
    { contains: { type: "string" } },
    [1],
    { keyword: "contains", path: [], found: 0, min: 1, max: Number.POSITIVE_INFINITY },
  ],
  [
    "several alternatives of `oneOf`",
    { oneOf: [{ minimum: 1 }, { maximum: 3 }] },
    2,
    { keyword: "oneOf", path: [], matching: 2 },
  ],
  ["`not`", { not: { type: "null" } }, null, { keyword: "not", path: [], value: null }],
  ["a schema that is false", { items: false }, [1], { keyword: "false", path: [0] }],
]

describe("SchemaCheck", () => {
  for (const [name, schema, value, ...expected] of cases) {
    it(name, () => {
      assert.deepStrictEqual(faultsOf(schema, value), expected)
    })
  }

  it("L13 gives a single fault when a check exceeds its limits", () => {
    assert.deepStrictEqual<unknown>(faultsOf({ $ref: "#" }, 1), [
      { keyword: "limit", limit: "depth", expected: 256, path: [] },
    ])
    const many = Array.from({ length: 200_000 }, () => 1)
    assert.deepStrictEqual<unknown>(faultsOf({ items: { type: "integer" } }, many), [
      { keyword: "limit", limit: "steps", expected: 100_000, path: [] },
    ])
  })

  it("rejects a schema that it cannot check completely", () => {
    for (const schema of [{ $ref: "https://a.example/s" }, { unevaluatedItems: false }]) {
      assert.isTrue(Result.isFailure(compile(schema)))
      assert.isTrue(Result.isFailure(check(schema, 1)))
    }
  })
})
