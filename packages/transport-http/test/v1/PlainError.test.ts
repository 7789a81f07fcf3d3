import { ConversationUnavailable } from "@colloquy/core/ConversationErrors"
import { StoreError } from "@colloquy/core/StoreErrors"
import { assert, describe, it } from "@effect/vitest"
import { isUnavailable, plainErrorOf } from "../../src/v1/PlainError.ts"

const fault = (reason: StoreError["reason"]) =>
  new StoreError({ operation: "create", reason, message: "the database cannot be reached" })

describe("the error of a store that failed", () => {
  it("says whether the request may be sent again, with and without a conversation", () => {
    for (const reason of ["Unreachable", "Exhausted", "Slow"] as const) {
      assert.isTrue(isUnavailable(plainErrorOf(fault(reason))), reason)
    }
    for (const reason of ["Full", "Denied", "Damaged", "Other"] as const) {
      assert.strictEqual(plainErrorOf(fault(reason)).code, "failed", reason)
    }
    const because = fault("Unreachable")
    assert.isTrue(
      isUnavailable(
        plainErrorOf(new ConversationUnavailable({ id: "x", reason: because.message, because })),
      ),
    )
  })
})
