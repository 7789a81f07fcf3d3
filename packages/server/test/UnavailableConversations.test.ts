/** A conversation that cannot be used now: which error a client of each dialect gets, by the cause. */
import {
  ConversationArchived,
  ConversationUnavailable,
  ManagerClosed,
  NoSuchConversation,
  TooManyConversations,
} from "@colloquy/core/ConversationErrors"
import { StoreError } from "@colloquy/core/StoreErrors"
import { assert, describe, it } from "@effect/vitest"
import * as App from "../src/app/AppErrors.ts"
import * as Thread from "../src/thread/ThreadErrors.ts"

const id = "0000000f-4240-72b0-9bb8-7b91f31eccc1"

const errorsFor = (because: ConversationUnavailable["because"] & {}) => {
  const error = new ConversationUnavailable({ id, reason: because.message, because })
  const [app, thread] = [
    App.cannotGet(id, error),
    Thread.cannotGet(id, error, Thread.threadNotFound),
  ]
  return [
    [app.code, app.message],
    [thread.code, thread.message],
  ]
}

const message = (reason: string) => `conversation ${id} is not available: ${reason}`

describe("a conversation that is not available", () => {
  it("is an invalid request where it is archived or removed: the client has to change it", () => {
    const archived = new ConversationArchived()
    assert.deepStrictEqual(errorsFor(archived), [
      [-32_600, message(archived.message)],
      [-32_600, `session ${id} is archived. Run \`codex unarchive ${id}\` to unarchive it first.`],
    ])
    const missing = new NoSuchConversation({ id })
    assert.deepStrictEqual(errorsFor(missing), [
      [-32_600, message(missing.message)],
      [-32_600, `thread not found: ${id}`],
    ])
  })

  for (const because of [
    new TooManyConversations({ limit: "loaded", maxConversations: 2 }),
    new ManagerClosed(),
    new StoreError({ operation: "read", reason: "Damaged", message: "its log is damaged: x" }),
  ]) {
    it(`is an internal error with the reason for ${because._tag}`, () => {
      const expected = [-32_603, message(because.message)]
      assert.deepStrictEqual(errorsFor(because), [expected, expected])
    })
  }
})
