import {
  ConversationArchived,
  ConversationUnavailable,
  ManagerClosed,
  NoSuchConversation,
  TooManyConversations,
} from "@colloquy/core/ConversationErrors"
import { StoreError } from "@colloquy/core/StoreErrors"
import { assert, describe, it } from "@effect/vitest"
import { isUnavailable, plainErrorOf } from "../../src/v1/PlainError.ts"

const fault = (reason: StoreError["reason"]) =>
  new StoreError({ operation: "create", reason, message: "the database cannot be reached" })

describe("the error of a conversation that is not available", () => {
  it("has the code of its cause", () => {
    for (const [because, code] of [
      [new ConversationArchived(), "conflict"],
      [new NoSuchConversation({ id: "x" }), "not_found"],
      [new TooManyConversations({ limit: "loaded", maxConversations: 2 }), "limit_reached"],
      [new ManagerClosed(), "unavailable"],
      [fault("Damaged"), "failed"],
      [fault("Full"), "unavailable"],
    ] as const) {
      const error = new ConversationUnavailable({ id: "x", reason: because.message, because })
      assert.strictEqual(plainErrorOf(error).code, code, because._tag)
    }
  })
})

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
