import { assert, describe, it } from "@effect/vitest"
import * as ChatWire from "../src/ChatWire.ts"
import { statusFailure } from "../src/internal/failures/StatusFailure.ts"
import { isOverflow } from "../src/internal/failures/Overflow.ts"
import type { WireDecoder } from "../src/internal/WireDecoder.ts"
import * as ResponsesWire from "../src/ResponsesWire.ts"

const said = [
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
  "Your input exceeds the context window of this model. Please adjust your input and try again.",
  "prompt is too long: 210000 tokens > 200000 maximum",
  "the request exceeds the available context size, try increasing it",
  "Input is too long for requested model.",
]

const verdict = (status: number, body: string) => {
  const { error, repeats } = statusFailure("chat", { status, retryAfter: undefined, body }, 0)
  return [error.reason, error.retryable, repeats]
}

/** How the stream of one event ends. */
const failureOf = (decoder: WireDecoder, event: unknown) => {
  const error = decoder.event(JSON.stringify(event), []).error ?? decoder.end([]).error
  return { reason: error?.reason, retryable: error?.retryable }
}

describe("a request that exceeds the context window", () => {
  it("is recognized by the words of the providers, or their code", () => {
    for (const text of said) assert.isTrue(isOverflow(undefined, text), text)
    assert.isTrue(isOverflow("context_length_exceeded", ""))
    const others = ["max_tokens is too large: 100000", "Rate limit reached: tokens per min", ""]
    for (const text of others) assert.isFalse(isOverflow("invalid_request_error", text), text)
  })

  it("is distinguished from other errors by status and body, and is not repeated unchanged", () => {
    const body = JSON.stringify({ error: { message: said[0], code: "context_length_exceeded" } })
    for (const status of [400, 413, 422]) {
      assert.deepStrictEqual(verdict(status, body), ["ContextWindow", false, 0])
    }
    assert.deepStrictEqual(verdict(400, "no such model"), ["Status", false, 0])
    assert.deepStrictEqual(verdict(404, body), ["Status", false, 0])
    assert.deepStrictEqual(verdict(429, body), ["RetryLimit", true, Number.POSITIVE_INFINITY])
  })

  it("keeps the text of the status", () => {
    const { error } = statusFailure(
      "responses",
      { status: 400, retryAfter: undefined, body: said[1] ?? "" },
      0,
    )
    assert.strictEqual(error.message, `unexpected status 400 Bad Request: ${said[1]}`)
  })

  it("is recognized in a stream that had started, on either wire", () => {
    const failed = {
      type: "response.failed",
      response: { error: { code: "context_length_exceeded", message: "Too long." } },
    }
    const ends = [
      failureOf(ResponsesWire.makeDecoder(), failed),
      failureOf(ChatWire.makeDecoder(), { error: { message: said[2], code: 400 } }),
      failureOf(ChatWire.makeDecoder(), {
        error: { message: "no", code: "context_length_exceeded" },
      }),
    ]
    for (const error of ends) {
      assert.deepStrictEqual(error, { reason: "ContextWindow", retryable: false })
    }
  })
})
