import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { argumentsOf } from "../src/Tool.ts"

describe("hostile arguments of a call", () => {
  it("L13 that are nested without end are refused with a message for the model", () => {
    const tool = {
      name: "t",
      arguments: Schema.Struct({ a: Schema.Unknown }),
      inputSchema: { type: "object" },
    }
    const deep = `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`
    assert.deepStrictEqual(
      Result.getOrThrow(Result.flip(argumentsOf(tool, deep))),
      "failed to parse function arguments: nested deeper than 256 levels",
    )
  })
})
