/** The kinds of failures, which clients decide by, from the texts of failures. */
import type { ErrorInfo } from "@colloquy/protocol/thread/Values"
import { assert, describe, it } from "@effect/vitest"
import { retryError, turnError } from "../../src/thread/TurnErrors.ts"

const highDemand = "We're currently experiencing high demand, which may cause temporary errors."

const rows: ReadonlyArray<readonly [string, ErrorInfo]> = [
  [highDemand, "internalServerError"],
  ["unexpected status 500 Internal Server Error: no", "internalServerError"],
  ["unexpected status 400 Bad Request: no", "other"],
  ["unexpected status 401 Unauthorized: no", { httpConnectionFailed: { httpStatusCode: 401 } }],
  [
    "exceeded retry limit, last status: 429 Too Many Requests",
    { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
  ],
  [
    "exceeded retry limit, last status: 503 Service Unavailable",
    { httpConnectionFailed: { httpStatusCode: 503 } },
  ],
  ["Quota exceeded. Check your plan and billing details.", "usageLimitExceeded"],
  ["rate limit exceeded: try again in 1s", "rateLimitExceeded"],
  ["Selected model is at capacity. Please try a different model.", "serverOverloaded"],
  [
    "Conversation is still above the token limit after automatic summarization (limit 5)",
    "contextWindowExceeded",
  ],
  [
    "the model provider refused an image (a.png); later requests leave it out: unexpected status 400 Bad Request: no",
    "badRequest",
  ],
  ["the model provider refused one of 2 images (a.png; b.png): no", "badRequest"],
  ["stream disconnected before completion: strange", "other"],
]

describe("errors of turns", () => {
  it.each(rows)("%s", (message, info) => {
    assert.deepStrictEqual(turnError(message).codexErrorInfo, info)
  })

  it("a stream that was cut is named as such while it is repeated", () => {
    const cause = "stream disconnected before completion: error decoding response body"
    assert.deepStrictEqual(retryError(`stream error: ${cause}; retrying 1/2 in 200ms…`), {
      message: "Reconnecting... 1/2",
      codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: null } },
      additionalDetails: cause,
      misalignment: null,
    })
  })
})
