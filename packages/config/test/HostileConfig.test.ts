import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { unknownKeys } from "../src/ConfigKeys.ts"
import { Config } from "../src/ConfigSchema.ts"
import { parseOverride, parseToml } from "../src/ConfigTree.ts"
import { tokenCount } from "@colloquy/core/turn/ModelEvents"

const faultOf = (text: string): string => Result.getOrThrow(Result.flip(parseToml(text)))

describe("a hostile configuration", () => {
  it("L13 with values nested more than 64 levels deep is refused, however they are written", () => {
    const deep = "nested more than 64 levels deep"
    for (const text of [
      `x = ${"[".repeat(50_000)}${"]".repeat(50_000)}`,
      `x = ${"{a=".repeat(50_000)}1${"}".repeat(50_000)}`,
    ]) {
      assert.strictEqual(faultOf(text), `TOML parse error: ${deep}`)
    }
    for (const text of [
      `a${".a".repeat(50_000)} = 1`,
      `[a${".a".repeat(50_000)}]\nb = 1`,
      `a${".a".repeat(64)} = 1`,
      `a = ${"[".repeat(65)}${"]".repeat(65)}`,
    ]) {
      assert.strictEqual(faultOf(text).split("\n")[0], deep)
    }
    assert.isTrue(Result.isSuccess(parseToml(`a${".a".repeat(63)} = 1`)))
  })

  it("L13 with a key longer than 8,192 characters is refused, and the message is short", () => {
    const name = "n".repeat(500_000)
    const fault = faultOf(`[${name}]\na = 1`)
    assert.strictEqual(fault, `a key is longer than 8192 characters\nin \`${"n".repeat(80)}\`\n`)
    assert.isBelow(faultOf(`${name} = 1\n${name} = 2`).length, 600)
  })

  it("L13 with very many unknown keys gets suggestions for the first hundred only", () => {
    // Each name differs from "model" in two letters.
    const letters = Array.from("abcdfghijkmnopqrstuvwxyz")
    const text = letters.flatMap((a) => letters.map((b) => `mod${a}${b} = 1`)).join("\n")
    const found = unknownKeys(Config, Result.getOrThrow(parseToml(text)))
    assert.strictEqual(found.length, letters.length ** 2)
    assert.strictEqual(found[0]?.near, "model")
    assert.deepStrictEqual(
      found.slice(100).filter(({ near }) => near !== undefined),
      [],
    )
  })

  it("L13 an override with very many quotes is read in linear time", { timeout: 20_000 }, () => {
    const quotes = '"'.repeat(500_000)
    assert.deepStrictEqual(Result.getOrThrow(parseOverride(`a='[${quotes}x${quotes}`)), {
      path: "a",
      value: `[${quotes}x`,
    })
  })
})

describe("tokenCount", () => {
  it("L13 a sum that exceeds what an event can hold stays at the bound", () => {
    const most = Number.MAX_SAFE_INTEGER
    const usage = {
      input_tokens: most,
      cached_input_tokens: most,
      output_tokens: most,
      reasoning_output_tokens: most,
      total_tokens: most,
    }
    const counted = tokenCount(usage, usage, null)
    assert.deepStrictEqual(counted.type === "token_count" && counted.info?.total_token_usage, usage)
  })
})
