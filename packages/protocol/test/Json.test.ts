import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { isNestedDeeper, parseJson } from "../src/Json.ts"

const nested = (levels: number, inner = "") => `${"[".repeat(levels)}${inner}${"]".repeat(levels)}`

describe("parseJson", () => {
  it("L13 rejects a text that nests deeper than the limit, and reads one of exactly that depth", () => {
    assert.isTrue(Result.isSuccess(parseJson(nested(256))))
    for (const text of [nested(257), nested(100_000), `{"a":${nested(256)}}`, "[".repeat(600)]) {
      const message = "nested deeper than 256 levels"
      assert.deepStrictEqual(Result.getOrThrow(Result.flip(parseJson(text))), {
        reason: "depth",
        message,
        detail: message,
      })
    }
  })

  it("L13 a value that was read can be written: the limit is far below a stack overflow", () => {
    const text = nested(255, '{"__proto__":1}')
    assert.strictEqual(JSON.stringify(Result.getOrThrow(parseJson(text))), text)
  })

  it("L13 brackets within strings are not levels, whatever is escaped before their end", () => {
    const inner = "[".repeat(1000)
    for (const text of [
      `["${inner}"]`,
      `["\\"${inner}"]`,
      `["\\\\", "${inner}"]`,
      `{"${inner}":"\\\\\\"${inner}"}`,
    ]) {
      assert.isFalse(isNestedDeeper(text, 4), text.slice(0, 12))
      assert.isTrue(Result.isSuccess(parseJson(text, 4)))
    }
    assert.isTrue(isNestedDeeper(`["\\\\",${nested(600)}]`, 4))
  })

  it("L13 the fault of a text that is not JSON does not quote it", () => {
    const fault = Result.getOrThrow(Result.flip(parseJson('{"key": sk-secret}')))
    assert.deepStrictEqual([fault.reason, fault.message], ["syntax", "not JSON"])
  })

  it("L13 reads backslashes without end once", { timeout: 20_000 }, () => {
    const text = `["${'\\\\"'.repeat(2_000_000)}`
    assert.isFalse(isNestedDeeper(text, 256))
  })
})
