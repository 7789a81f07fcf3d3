import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Codex, CodexArguments, CodexReply, CodexReplyArguments } from "../../src/mcp/CodexTools.ts"
import { decodeArguments } from "../../src/mcp/ToolArguments.ts"

const fault = (tool: typeof Codex | typeof CodexReply, args: unknown) =>
  Result.match(decodeArguments(tool as typeof Codex, args), {
    onSuccess: () => "no fault",
    onFailure: (text) => text,
  })

describe("decodeArguments", () => {
  it.prop(
    "takes everything the schema of codex describes",
    { args: CodexArguments },
    ({ args }) => {
      const decoded = decodeArguments(Codex, Schema.encodeSync(CodexArguments)(args))
      assert.deepStrictEqual(Result.getOrThrow(decoded), args)
    },
  )

  it.prop(
    "takes everything the schema of codex-reply describes",
    { args: CodexReplyArguments },
    ({ args }) => {
      assert.deepStrictEqual(Result.getOrThrow(decodeArguments(CodexReply, args)), args)
    },
  )

  it("L13 reports 20 of many faults, that there are more, and shortened names", () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, 1]))
    const faults = fault(CodexReply, { prompt: "p", ...many }).split("; ")
    assert.deepStrictEqual([faults.length, faults.at(-1)], [21, "and more"])
    const long = "k".repeat(100_000)
    assert.isBelow(fault(CodexReply, { prompt: "p", [long]: 1 }).length, 1_000)
    assert.isBelow(fault(Codex, { prompt: "p", sandbox: long }).length, 1_000)
  })

  it.each<readonly [args: unknown, text: string]>([
    [null, "invalid type: null, expected a map of arguments for `codex`"],
    [[], "invalid type: sequence, expected a map of arguments for `codex`"],
    ["str", 'invalid type: string "str", expected a map of arguments for `codex`'],
    [true, "invalid type: boolean `true`, expected a map of arguments for `codex`"],
    [{}, "missing field `prompt` (expected a string)"],
    [{ prompt: null }, "invalid type: null, expected a string (field `prompt`)"],
    [{ prompt: ["x"] }, "invalid type: sequence, expected a string (field `prompt`)"],
    [{ prompt: { a: 1 } }, "invalid type: map, expected a string (field `prompt`)"],
    [{ prompt: 1.5 }, "invalid type: floating point `1.5`, expected a string (field `prompt`)"],
    [
      { prompt: "x", config: "notobj" },
      'invalid type: string "notobj", expected a map (field `config`)',
    ],
    [{ prompt: "x", config: [] }, "invalid type: sequence, expected a map (field `config`)"],
    [
      { prompt: "x", "include-plan-tool": "yes" },
      'invalid type: string "yes", expected a boolean (field `include-plan-tool`)',
    ],
    [
      { prompt: "x", "approval-policy": "on_request" },
      "unknown variant `on_request`, expected one of `untrusted`, `on-failure`, `on-request`, `never`, did you mean `on-request`? (field `approval-policy`)",
    ],
    [
      { prompt: "x", toString: 1 },
      "unknown field `toString`, expected one of `approval-policy`, `base-instructions`, `compact-prompt`, `config`, `cwd`, `developer-instructions`, `include-plan-tool`, `model`, `profile`, `prompt`, `sandbox`",
    ],
    [
      { promt: "x" },
      "unknown field `promt`, did you mean `prompt`?; missing field `prompt` (expected a string)",
    ],
  ])("%j", (args, text) => {
    assert.strictEqual(fault(Codex, args), text)
  })

  it("L13 does not read inherited members as arguments", () => {
    for (const name of ["constructor", "hasOwnProperty", "valueOf", "__proto__"]) {
      const args: unknown = JSON.parse(`{"prompt":"x","${name}":1}`)
      assert.include(fault(Codex, args), `unknown field \`${name}\``)
    }
  })

  it("shortens a long value, so that an error stays readable", () => {
    const text = fault(Codex, { prompt: "x", "include-plan-tool": "y".repeat(10_000) })
    assert.isBelow(text.length, 200)
  })
})
