/** Which failures of the own manager say that the conversation is on another node, or on its way there. */
import { ConversationUnavailable, ManagerClosed } from "@colloquy/core/ConversationErrors"
import { LeaseHeld, LeaseLost, StoreError } from "@colloquy/core/StoreErrors"
import { assert, describe, it } from "@effect/vitest"
import { Elsewhere } from "../src/NodeErrors.ts"
import { elsewhereOf } from "../src/internal/Moving.ts"

const id = "01999999-9999-7999-8999-999999999999"

const because = (cause: ConversationUnavailable["because"] & {}) =>
  new ConversationUnavailable({ id, reason: cause.message, because: cause })

describe("elsewhereOf", () => {
  it("L5 L10 is another node while this one closes, and while it lacks the lease", () => {
    const held = new LeaseHeld({ id, holder: {} })
    for (const cause of [new ManagerClosed(), held, new LeaseLost({ id, generation: 1 })]) {
      assert.instanceOf(elsewhereOf(id, because(cause)), Elsewhere)
    }
    assert.instanceOf(elsewhereOf(id, new ManagerClosed()), Elsewhere)
    assert.strictEqual(elsewhereOf(id, held)?.held, held)
  })

  it("is unknown for any other failure, an archived conversation among them", () => {
    const archived = new ConversationUnavailable({ id, reason: "it is archived" })
    const fault = new StoreError({ operation: "open", reason: "Other", message: "disk failed" })
    for (const error of [archived, because(fault), fault]) {
      assert.isUndefined(elsewhereOf(id, error))
    }
  })
})
