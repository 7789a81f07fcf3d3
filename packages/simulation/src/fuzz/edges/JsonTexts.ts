/** JSON texts, and JSON Schemas with values to check: the base of every decoder of messages and files. */
import { compile } from "@colloquy/json-schema/SchemaCheck"
import { isNestedDeeper, maxJsonDepth, parseJson } from "@colloquy/protocol/Json"
import * as Result from "effect/Result"
import { encode } from "../Bytes.ts"
import type { Edge } from "../Edge.ts"
import { mutateJoined, expect, pure, textOf } from "./Pure.ts"

const texts = [
  '{"a":[1,2,{"b":"\\u00e9\\\\\\"[["}],"c":null,"d":true}',
  '[[[[["deep"]]]]]',
  '"\\ud83d\\ude00"',
  "-1.5e300",
].map(encode)

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Any JSON text. */
export const jsonTexts: Edge = {
  name: "json-text",
  summary: "Any JSON text from outside (protocol/Json).",
  corpus: texts,
  mutate: mutateJoined("\n", texts),
  open: pure((input) => {
    const text = textOf(input)
    const read = parseJson(text)
    if (Result.isFailure(read)) {
      const isTooDeep = isNestedDeeper(text, maxJsonDepth)
      expect(isTooDeep || parse(text) === undefined, "refuses a JSON text that is not too deep")
      expect(read.failure.message.length < 100, "describes a fault in 100 characters or more")
      return "rejected"
    }
    const written = JSON.stringify(read.success)
    const again = Result.getOrUndefined(parseJson(written))
    expect(JSON.stringify(again) === written, "writes a value that is read as another one")
    return "accepted"
  }),
}

const isObject = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const schemas = [
  {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string", minLength: 1, pattern: "^[a-z]+(-[a-z]+)*$" },
      kind: { enum: ["a", "b"] },
      tags: { type: "array", items: { $ref: "#/$defs/tag" }, uniqueItems: true, maxItems: 3 },
      size: { type: "integer", minimum: 0, multipleOf: 2 },
    },
    additionalProperties: false,
    $defs: { tag: { anyOf: [{ type: "string" }, { type: "object", properties: {} }] } },
  },
  { oneOf: [{ type: "null" }, { type: "object", patternProperties: { "^x-": true } }] },
]

/** A text, because an object literal with a member `then` looks like a promise. */
const conditional = '{"if":{"type":"string"},"then":{"maxLength":2},"else":{"not":{"const":1}}}'

/** A schema, then values, one per line. */
const schemaCorpus = [...schemas.map((schema) => JSON.stringify(schema)), conditional].map(
  (schema) =>
    encode(
      [
        schema,
        '{"name":"a-b","kind":"a","tags":["t",{}],"size":4}',
        '{"x-a":1}',
        '"text"',
        "null",
      ].join("\n"),
    ),
)

/** JSON Schemas and values that are checked against them. */
export const jsonSchemas: Edge = {
  name: "json-schema",
  summary: "JSON Schemas of tools and forms, and values checked against them (json-schema).",
  corpus: schemaCorpus,
  mutate: mutateJoined("\n", schemaCorpus),
  open: pure((input) => {
    const [schema, ...values] = textOf(input)
      .split("\n")
      .map((line) => Result.getOrUndefined(parseJson(line)))
    if (!isObject(schema)) return "rejected"
    const check = compile(schema)
    if (Result.isFailure(check)) {
      expect(check.failure !== "", "rejects a schema without a reason")
      return "rejected"
    }
    for (const value of values) {
      const faults = check.success(value)
      expect(faults.length <= 21, "reports more than 20 faults")
      expect(
        faults.every(({ path }) => path.length <= 257),
        "reports a fault below the greatest depth",
      )
    }
    return "accepted"
  }),
}
