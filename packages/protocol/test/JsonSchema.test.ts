import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { jsonSchemaOf } from "../src/JsonSchema.ts"

describe("JsonSchema", () => {
  it("closed objects forbid members they do not name, open ones do not", () => {
    const schema = Schema.Struct({ a: Schema.String, b: Schema.optionalKey(Schema.Boolean) })
    const object = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "boolean" } },
      required: ["a"],
    }
    assert.deepStrictEqual<unknown>(
      [jsonSchemaOf(schema, { closed: true }), jsonSchemaOf(schema)],
      [
        { ...object, additionalProperties: false },
        { ...object, additionalProperties: true },
      ],
    )
  })

  it("a schema that refers to definitions carries them", () => {
    interface Tree {
      readonly children: ReadonlyArray<Tree>
    }
    const Tree: Schema.Codec<Tree> = Schema.Struct({
      children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree)),
    }).annotate({ identifier: "Tree" })
    const text = JSON.stringify(jsonSchemaOf(Schema.Struct({ tree: Tree })))
    assert.include(text, '"$ref":"#/$defs/Tree"')
    assert.include(text, '"$defs":{"Tree"')
  })
})
