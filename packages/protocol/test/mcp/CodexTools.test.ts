import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { codexTools, ToolOutput } from "../../src/mcp/CodexTools.ts"

describe("CodexTools", () => {
  it.each(codexTools.map((tool) => [tool.name, tool] as const))(
    "%s: the listed arguments are those that are decoded",
    (_, tool) => {
      const { properties, required } = tool.inputSchema as {
        readonly properties: Readonly<Record<string, { readonly type: string }>>
        readonly required: ReadonlyArray<string>
      }
      const values: Readonly<Record<string, unknown>> = { string: "x", boolean: true, object: {} }
      const accepts = (args: object) =>
        Schema.decodeResult(tool.arguments)(args, { onExcessProperty: "error" })._tag === "Success"
      assert.deepStrictEqual(required, ["prompt"])
      assert.isTrue(accepts({ prompt: "x" }))
      assert.isFalse(accepts({}))
      for (const [name, property] of Object.entries(properties)) {
        const choices = (property as { readonly enum?: ReadonlyArray<unknown> }).enum
        for (const value of choices ?? [values[property.type]]) {
          assert.isTrue(accepts({ prompt: "x", [name]: value }), `${name}: ${String(value)}`)
        }
        assert.isFalse(accepts({ prompt: "x", [name]: 7 }), name)
        assert.isFalse(accepts({ prompt: "x", [`${name}x`]: values[property.type] }), name)
      }
    },
  )

  it("the output needs all its members", () => {
    const output = { threadId: "t", conversationId: "t", content: "" }
    assert.isTrue(Schema.is(ToolOutput)(output))
    for (const key of Object.keys(output)) {
      assert.isFalse(Schema.is(ToolOutput)({ ...output, [key]: undefined }), key)
    }
  })
})
