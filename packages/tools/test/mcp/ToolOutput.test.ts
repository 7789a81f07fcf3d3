import { assert, describe, it } from "@effect/vitest"
import * as ToolOutput from "../../src/mcp/ToolOutput.ts"

const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)

describe("ToolOutput", () => {
  const content = [{ type: "text", text: "hi" }]

  it.each<readonly [string, ToolOutput.CallResult, string]>([
    ["structured content", { content, structuredContent: { a: [1] } }, '{"a":[1]}'],
    ["no structured content", { content }, '[{"type":"text","text":"hi"}]'],
    [
      "structured content of null",
      { content, structuredContent: null },
      '[{"type":"text","text":"hi"}]',
    ],
    ["an error reported by the tool", { content, isError: true }, '[{"type":"text","text":"hi"}]'],
    ["nothing", {}, "[]"],
  ])("the model gets the JSON text of %s", (_, result, output) => {
    assert.deepStrictEqual(ToolOutput.outcome(result), { _tag: "Result", output, result })
  })

  it("a large result is cut at a whole character, in the output and in the events", () => {
    const result = { structuredContent: "é".repeat(100), content: [], isError: true }
    const output = `"${"é".repeat(9)}\n[183 of 202 bytes omitted]`
    assert.deepStrictEqual(ToolOutput.outcome(result, 20), {
      _tag: "Result",
      output,
      result: { content: [{ type: "text", text: output }], isError: true },
    })
  })

  it("large contents after small structured content are left out of the events", () => {
    const result = { structuredContent: 1, content: [{ type: "text", text: "x".repeat(100) }] }
    assert.deepStrictEqual(ToolOutput.outcome(result, 20), {
      _tag: "Result",
      output: "1",
      result: { content: [{ type: "text", text: "1" }] },
    })
  })

  it("a result too deep for JSON writers is a failure", () => {
    const structuredContent: unknown = JSON.parse(deep(100_000))
    assert.deepStrictEqual(ToolOutput.outcome({ content, structuredContent }), {
      _tag: "Failure",
      message: "the result is nested deeper than 256 levels",
    })
  })

  it("a failure is quoted", () => {
    assert.strictEqual(ToolOutput.failedOutput('no "x"\n'), 'err: "tool call error: no \\"x\\"\\n"')
  })

  it.each<readonly [string, ToolOutput.Arguments]>([
    ["", { _tag: "Arguments", value: undefined }],
    [" \n", { _tag: "Arguments", value: undefined }],
    ['{"a":1}', { _tag: "Arguments", value: { a: 1 } }],
    ["[1]", { _tag: "Bad", message: "failed to parse function arguments: expected a JSON object" }],
    [
      "null",
      { _tag: "Bad", message: "failed to parse function arguments: expected a JSON object" },
    ],
    [
      `{"a":${deep(5_000)}}`,
      { _tag: "Bad", message: "failed to parse function arguments: nested deeper than 256 levels" },
    ],
  ])("reads the arguments %.20s", (text, read) => {
    assert.deepStrictEqual(ToolOutput.parseArguments(text), read)
  })

  it("arguments that are not JSON give the reason", () => {
    const read = ToolOutput.parseArguments("{")
    assert.strictEqual(read._tag, "Bad")
    if (read._tag === "Bad") assert.match(read.message, /^failed to parse function arguments: ./)
  })
})
