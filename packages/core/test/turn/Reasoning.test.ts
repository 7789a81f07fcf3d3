import { assert, describe, it } from "@effect/vitest"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import { reasoningOf } from "../../src/turn/Reasoning.ts"

const of = (model: string, supportsReasoning?: boolean) =>
  reasoningOf(
    scriptedSettings({
      model,
      effort: "high",
      summary: "detailed",
      ...(supportsReasoning === undefined ? {} : { supportsReasoning }),
    }),
  )

describe("reasoningOf", () => {
  const asked = { effort: "high", summary: "detailed" } as const

  it("sends effort and summary to the families that have reasoning, and to no other model", () => {
    for (const model of [
      "o3",
      "o4-mini",
      "codex-mini-latest",
      "gpt-5",
      "gpt-5-codex",
      "gpt-6",
      "openai/gpt-5",
      "gpt-oss-120b",
      "openai/gpt-oss:20b",
      "O3",
      "a/b/Codex-Mini",
    ]) {
      assert.deepStrictEqual(of(model), asked, model)
    }
    for (const model of [
      "gpt-4.1",
      "gpt-4o",
      "gpt-3.5-turbo",
      "qwen3",
      "offline",
      "gpt-5/qwen3",
      "openai/gpt-4o",
      "GPT-4.1",
    ]) {
      assert.deepStrictEqual(of(model), {}, model)
    }
  })

  it("follows `model_supports_reasoning_summaries` for every model", () => {
    assert.deepStrictEqual(of("qwen3", true), asked)
    assert.deepStrictEqual(of("gpt-5", false), {})
  })
})
