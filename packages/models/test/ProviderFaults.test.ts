/**
 * Errors of providers as sentences for people: usage limits, and addresses that cannot be reached.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as ChatWire from "../src/ChatWire.ts"
import * as HttpModel from "../src/HttpModel.ts"
import { statusFailure } from "../src/internal/failures/StatusFailure.ts"
import * as ResponsesWire from "../src/ResponsesWire.ts"
import { provider, request } from "./support/Requests.ts"

const nowMs = 1_700_000_000_000

const verdict = (error: unknown, retryAfter?: string) => {
  const body = JSON.stringify({ error })
  const failed = statusFailure("responses", { status: 429, retryAfter, body }, nowMs)
  return [failed.error.message, failed.error.retryable, failed.repeats]
}

describe("a usage limit", () => {
  const limit = "You've hit your usage limit"
  const limits: ReadonlyArray<readonly [fault: object, sentence: string]> = [
    [{ resets_in_seconds: 30 }, `${limit}. Try again in less than a minute.`],
    [{ resets_in_seconds: 61 }, `${limit}. Try again in 2 minutes.`],
    [{ resets_in_seconds: 3600 }, `${limit}. Try again in 1 hour.`],
    [
      { plan_type: "plus", resets_in_seconds: 2 * 86_400 + 3 * 3600 + 20 * 60 },
      `${limit} (plan: plus). Try again in 2 days 3 hours 20 minutes.`,
    ],
    [{ resets_at: nowMs / 1000 + 5400 }, `${limit}. Try again in 1 hour 30 minutes.`],
    [{ resets_at: String(nowMs / 1000 + 5400) }, `${limit}. Try again in 1 hour 30 minutes.`],
    [{ resets_in_seconds: "61" }, `${limit}. Try again in 2 minutes.`],
    [{ resets_at: "" }, `${limit}. Try again later.`],
    [{ resets_at: 1 }, `${limit}. Try again in less than a minute.`],
    [{ resets_in_seconds: 1e300 }, `${limit}. Try again later.`],
    [{ resets_in_seconds: -5 }, `${limit}. Try again later.`],
    [{ resets_in_seconds: "soon", plan_type: 7, message: null }, `${limit}. Try again later.`],
    [{ plan_type: "a plan\nwith a line" }, `${limit}. Try again later.`],
  ]

  it("is a sentence with the waiting time, and the request is not repeated", () => {
    for (const [fault, sentence] of limits) {
      assert.deepStrictEqual(verdict({ type: "usage_limit_reached", ...fault }), [
        sentence,
        false,
        0,
      ])
    }
    assert.deepStrictEqual(verdict({ code: "usage_limit_reached" }, "7200"), [
      `${limit}. Try again in 2 hours.`,
      false,
      0,
    ])
  })

  it("that excludes the plan is a sentence that says what to do", () => {
    assert.deepStrictEqual(verdict({ type: "usage_not_included", plan_type: "free" }), [
      "Your plan does not include this usage (plan: free). Upgrade the plan, or configure an API key or another provider.",
      false,
      0,
    ])
  })

  it("of an exhausted quota is a sentence, in a status and within a stream", () => {
    const sentence =
      "Quota exceeded. Check the plan and the billing details of the account with the model provider."
    const fault = { type: "insufficient_quota", code: "insufficient_quota", message: "No more." }
    assert.deepStrictEqual(verdict(fault, "5"), [sentence, false, 0])
    const { error } = ChatWire.makeDecoder().event(JSON.stringify({ error: fault }), [])
    assert.deepStrictEqual([error?.message, error?.retryable], [sentence, false])
  })

  it("is the same sentence within a stream, on either wire", () => {
    const fault = { code: "usage_limit_reached", resets_in_seconds: 120 }
    const sentence = `${limit}. Try again in 2 minutes.`
    const responses = ResponsesWire.makeDecoder()
    responses.event(JSON.stringify({ type: "response.failed", response: { error: fault } }), [])
    const chat = ChatWire.makeDecoder().event(JSON.stringify({ error: fault }), [])
    for (const error of [responses.end([]).error, chat.error]) {
      assert.deepStrictEqual([error?.message, error?.retryable], [sentence, false])
    }
  })
})

/** A client whose requests all fail with that code of the platform; counts them. */
const failing = (code: string) => {
  const seen = { requests: 0 }
  const client = HttpClient.make((sent) =>
    Effect.suspend(() => {
      seen.requests++
      const cause = Object.assign(new Error("connect failed"), { code })
      return Effect.fail(
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({ request: sent, cause }),
        }),
      )
    }),
  )
  return { client, seen }
}

describe("an address that cannot be reached", () => {
  const asked = request({
    provider: provider("responses", {
      baseUrl: "http://me:s3cret@mock.test/v1?api_key=TOPSECRET#fragment",
      requestMaxRetries: 4,
      queryParams: { key: "s3cret" },
    }),
  })
  const ask = (code: string) =>
    Effect.gen(function* () {
      const { client, seen } = failing(code)
      const fiber = yield* Effect.forkChild(
        Effect.flip(Stream.runDrain((yield* HttpModel.make(client)).stream(asked))),
      )
      yield* TestClock.adjust("1 minute")
      const error = yield* Fiber.join(fiber)
      return { error, requests: seen.requests }
    })

  it.effect.each([
    ["ECONNREFUSED", "connection refused"],
    ["ENOTFOUND", "the host name cannot be resolved"],
    ["EAI_AGAIN", "the host name cannot be resolved"],
    ["EPROTO", "the TLS connection failed"],
    ["CERT_HAS_EXPIRED", "the TLS connection failed"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "the TLS connection failed"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "the TLS connection failed"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "the TLS connection failed"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "the TLS connection failed"],
  ] as const)("is reported immediately, with the address: %s", ([code, words]) =>
    Effect.gen(function* () {
      const { error, requests } = yield* ask(code)
      assert.deepStrictEqual(
        [error.message, error.retryable, requests],
        [
          `cannot connect to the model provider at http://mock.test/v1/responses: ${words} (${code})`,
          false,
          1,
        ],
      )
    }),
  )

  it.effect.each(["ECONNRESET", "ETIMEDOUT", "EPIPE", "UND_ERR_SOCKET"] as const)(
    "is tried again where the fault may pass: %s",
    (code) =>
      Effect.gen(function* () {
        const { error, requests } = yield* ask(code)
        assert.deepStrictEqual(
          [error.message, error.retryable, requests],
          [
            `stream disconnected before completion: error sending request for url (http://mock.test/v1/responses): ${code}`,
            true,
            5,
          ],
        )
      }),
  )
})
