import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { isFull, limitOf, requestTokens, stillAbove } from "../../../src/turn/compaction/Limit.ts"
import { textTokens } from "../../../src/log/Tokens.ts"
import { resolve } from "@colloquy/config/Resolve"
import { settings } from "../../support.ts"

const source = {
  tree: {},
  builtinProviders: [settings.provider],
  defaultProvider: settings.provider.id,
  cwd: "/work",
}
const resolved = (config: Readonly<Record<string, unknown>>) => {
  const { autoCompactTokenLimit, compactPrompt, contextWindow } = Result.getOrThrow(
    resolve(source, { config }),
  )
  return { autoCompactTokenLimit, compactPrompt, contextWindow }
}

describe("the limit of the context", () => {
  it("is the configured one, or four fifths of the window; there is none for 0 and for an unknown window", () => {
    const of = (autoCompactTokenLimit: number | undefined, contextWindow: number | null) =>
      limitOf({
        ...settings,
        contextWindow,
        ...(autoCompactTokenLimit === undefined ? {} : { autoCompactTokenLimit }),
      })
    assert.deepStrictEqual(
      [of(5, 100), of(undefined, 272_000), of(undefined, null), of(0, 100), of(5, null)],
      [5, 217_600, undefined, undefined, 5],
    )
  })

  it("is reached by that many tokens, estimated ones included", () => {
    const limited = { ...settings, autoCompactTokenLimit: 100 }
    assert.isFalse(isFull(limited, { counted: 90, estimated: 9 }))
    assert.isTrue(isFull(limited, { counted: 90, estimated: 10 }))
    assert.isTrue(isFull(limited, { counted: 100, estimated: 0 }))
    assert.isFalse(isFull(settings, { counted: 1e9, estimated: 0 }))
  })

  it("counts the instructions when the provider has counted nothing", () => {
    const baseInstructions = "x".repeat(400)
    assert.strictEqual(
      requestTokens({ ...settings, baseInstructions }, { estimated: 7 }),
      textTokens(baseInstructions) + 7,
    )
    assert.strictEqual(
      requestTokens({ ...settings, baseInstructions }, { counted: 50, estimated: 7 }),
      57,
    )
  })

  it("is named in the error with the size above it, as far as it is known", () => {
    const text = (of: typeof settings) => stillAbove(of, { counted: 120, estimated: 3 }).message
    assert.strictEqual(
      text({ ...settings, autoCompactTokenLimit: 100 }),
      "Conversation is still above the token limit after automatic summarization (limit 100, current 123). Please start a new session or trim your input.",
    )
    assert.include(
      text({ ...settings, contextWindow: 1_000, autoCompactTokenLimit: 0 }),
      "(limit 1000, current 123)",
    )
    assert.include(text(settings), "(limit unknown, current 123)")
  })

  it("is configured by the keys of the original program", () => {
    assert.deepStrictEqual(
      resolved({
        model_auto_compact_token_limit: 9,
        model_context_window: 99,
        compact_prompt: "Short.",
      }),
      { autoCompactTokenLimit: 9, contextWindow: 99, compactPrompt: "Short." },
    )
    assert.deepStrictEqual(resolved({ model: "gpt-4o" }), {
      autoCompactTokenLimit: undefined,
      contextWindow: 128_000,
      compactPrompt: undefined,
    })
    const of = resolve(source, { config: { compact_prompt: "Short." }, compactPrompt: "Shorter." })
    assert.strictEqual(Result.getOrThrow(of).compactPrompt, "Shorter.")
  })
})
