import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as OfflineScript from "../src/OfflineScript.ts"

const problem = (json: unknown) =>
  Result.match(OfflineScript.decode(json), {
    onSuccess: () => "fine",
    onFailure: (error) => error.message,
  })

describe("OfflineScript.decode", () => {
  it("accepts every kind of step", () => {
    const script = [
      [
        { text: "a", deltas: ["a"] },
        { reasoning: "r" },
        { tool_call: { name: "shell", arguments: { command: ["ls"] }, call_id: "c" } },
        { custom_tool_call: { name: "apply_patch", input: "P" } },
        { delay_ms: 10 },
        { error: { message: "Boom.", retryable: false } },
        { usage: { input_tokens: 1 } },
      ],
      [],
    ]
    assert.deepStrictEqual(OfflineScript.decode(script), Result.succeed(script))
  })

  it("L13 names the place of an unknown member", () => {
    assert.match(problem([[{ txt: "a" }]]), /^offline script: .*\[0\]\[0\]/s)
    assert.match(problem([[{ text: "a", delta: [] }]]), /\["delta"\]/)
    assert.match(problem([[{ delay_ms: -1 }]]), /\["delay_ms"\]/)
    assert.match(problem({}), /Expected array/)
  })
})
