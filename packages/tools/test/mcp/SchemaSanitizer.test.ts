import { assert, describe, it } from "@effect/vitest"
import { sanitize } from "../../src/mcp/SchemaSanitizer.ts"

const anything = { type: "object", properties: {} }
const withValue = (schema: unknown) => ({ type: "object", properties: { v: schema } })

const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown => {
  let schema: unknown = { type: "string" }
  for (let i = 0; i < levels; i++) schema = wrap(schema)
  return schema
}

const depthOf = (u: unknown): number =>
  typeof u === "object" && u !== null ? 1 + Math.max(0, ...Object.values(u).map(depthOf)) : 0

describe("SchemaSanitizer", () => {
  it.each<readonly [what: string, given: unknown, read: unknown]>([
    ["a type inferred from properties", { properties: {} }, { type: "object", properties: {} }],
    [
      "a type inferred from items",
      { items: { type: "integer" } },
      { type: "array", items: { type: "number" } },
    ],
    ["a type inferred from nothing", { description: "d" }, { type: "string", description: "d" }],
    ["integer", { type: "integer", minimum: 1 }, { type: "number", minimum: 1 }],
    ["an object without properties", { type: "object" }, anything],
    ["an array without items", { type: "array" }, { type: "array", items: { type: "string" } }],
    ["a tuple", { items: [{ type: "integer" }, {}] }, { type: "array", items: { type: "number" } }],
    ["true as a schema", true, { type: "string" }],
    ["several types", { type: ["integer", "null"] }, { type: ["number", "null"] }],
    ["unknown types", { type: "date" }, { type: "string" }],
    ["one choice of many types", { type: ["any", "boolean"] }, { type: "boolean" }],
    [
      "a choice",
      { anyOf: [{ type: "integer" }, {}] },
      { anyOf: [{ type: "number" }, { type: "string" }] },
    ],
    ["an enumeration", { enum: ["a", 1, null] }, { type: "string", enum: ["a", 1, null] }],
    ["an enumeration of objects", { enum: [{}] }, { type: "string" }],
    [
      "additional properties",
      { type: "object", additionalProperties: { type: "integer" } },
      { ...anything, additionalProperties: { type: "number" } },
    ],
    [
      "required names that are none",
      { type: "object", properties: { a: {} }, required: ["a", "b", 3, "a"] },
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    ],
    ["an unknown keyword", { type: "string", "x-run": "rm" }, { type: "string" }],
    [
      "a reference to the network",
      { $ref: "https://evil.example/schema.json" },
      { type: "string" },
    ],
    ["a reference to a file", { $ref: "file:///etc/passwd" }, { type: "string" }],
    ["a reference that leads nowhere", { $ref: "#/$defs/none" }, { type: "string" }],
    ["a reference to a prototype", { $ref: "#/constructor" }, { type: "string" }],
  ])("reads %s", (_, given, read) => {
    assert.deepStrictEqual(sanitize(withValue(given)), withValue(read))
  })

  it.each([
    ["text", "schema"],
    ["null", null],
    ["a list", []],
    ["a number", 3],
    ["the schema of a text", { type: "string" }],
  ])("reads %s as an object of any kind", (_, given) => {
    assert.deepStrictEqual(sanitize(given), anything)
  })

  it("replaces references within the schema by their targets", () => {
    assert.deepStrictEqual(
      sanitize({
        properties: { at: { $ref: "#/$defs/a~1b", description: "where" } },
        $defs: {
          "a/b": { $ref: "#/$defs/point" },
          point: { properties: { x: { type: "integer" } } },
        },
      }),
      {
        type: "object",
        properties: {
          at: { type: "object", description: "where", properties: { x: { type: "number" } } },
        },
      },
    )
  })

  it("reads a part that contains itself as an object of any kind", () => {
    assert.deepStrictEqual(
      sanitize({
        properties: { tree: { $ref: "#/$defs/tree" }, loop: { $ref: "#/$defs/a" } },
        $defs: {
          tree: { properties: { left: { $ref: "#/$defs/tree" } } },
          a: { $ref: "#/$defs/b" },
          b: { $ref: "#/$defs/a" },
        },
      }),
      {
        type: "object",
        properties: { tree: { type: "object", properties: { left: anything } }, loop: anything },
      },
    )
  })

  it("a property named __proto__ is a property and changes nothing else", () => {
    const given: unknown = JSON.parse('{"properties":{"__proto__":{"properties":{"polluted":{}}}}}')
    const read = sanitize(given)
    assert.strictEqual(
      JSON.stringify(read),
      '{"type":"object","properties":{"__proto__":{"type":"object","properties":{"polluted":{"type":"string"}}}}}',
    )
    assert.strictEqual(({} as Record<string, unknown>)["polluted"], undefined)
  })

  it.each<readonly [what: string, schema: unknown]>([
    ["1,000 levels of properties", nested(1_000, (inner) => ({ properties: { a: inner } }))],
    ["100,000 levels of items", nested(100_000, (inner) => ({ items: inner }))],
    ["1,000 levels of choices", withValue(nested(1_000, (inner) => ({ anyOf: [inner, inner] })))],
    [
      "100,000 properties",
      { properties: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`p${i}`, {}])) },
    ],
    [
      "references that double at every level",
      {
        properties: { v: { $ref: "#/$defs/d0" } },
        $defs: Object.fromEntries(
          Array.from({ length: 40 }, (_, i) => [
            `d${i}`,
            { properties: { a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } } },
          ]),
        ),
      },
    ],
    [
      "a chain of 10,000 references",
      {
        properties: { v: { $ref: "#/$defs/d0" } },
        $defs: Object.fromEntries(
          Array.from({ length: 10_000 }, (_, i) => [`d${i}`, { $ref: `#/$defs/d${i + 1}` }]),
        ),
      },
    ],
    ["a description of 10 MB", withValue({ description: "d".repeat(10_000_000) })],
    [
      "choices of 1 MB",
      withValue({ enum: Array.from({ length: 1_000 }, () => "e".repeat(1_000)) }),
    ],
    [
      "a wide part named 5,000 times",
      {
        properties: Object.fromEntries(
          Array.from({ length: 1_000 }, (_, i) => [`p${i}`, { $ref: "#/$defs/wide" }]),
        ),
        $defs: {
          wide: {
            properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`w${i}`, {}])),
          },
        },
      },
    ],
  ])("bounds %s", (_, schema) => {
    const read = sanitize(schema)
    assert.strictEqual(read["type"], "object")
    assert.isAtMost(JSON.stringify(read).length, 128 * 1024)
    assert.isAtMost(depthOf(read), 100)
  })
})
