import type { CompletedTurn } from "@colloquy/core/decider/CompletedTurn"
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import { maxBytes, notificationText } from "../../src/notify/NotificationText.ts"

const turn: CompletedTurn = {
  conversationId: ConversationId.make("00000000-0000-7000-8000-000000000001"),
  turnId: "3",
  cwd: "/work",
  inputMessages: ["first question", "second question"],
  lastAgentMessage: "answer",
}

const bytesOf = (text: string) => Buffer.byteLength(text)

describe("notificationText", () => {
  it("has the members of the original 0.153.4, in its order", () => {
    assert.strictEqual(
      notificationText(turn),
      '{"type":"agent-turn-complete","thread-id":"00000000-0000-7000-8000-000000000001","turn-id":"3","cwd":"/work","input-messages":["first question","second question"],"last-assistant-message":"answer"}',
    )
    assert.include(
      notificationText({ ...turn, lastAgentMessage: null }),
      '"last-assistant-message":null',
    )
  })

  it("L13 fits into one argument, whatever the messages are", () => {
    const long = "x".repeat(1_000_000)
    const cases: ReadonlyArray<Partial<CompletedTurn>> = [
      { lastAgentMessage: long },
      { lastAgentMessage: "\u0001".repeat(200_000) },
      { lastAgentMessage: "😀".repeat(100_000) },
      { inputMessages: [long, "short", long] },
      { inputMessages: Array.from({ length: 20_000 }, (_, i) => `message ${i}`) },
      { inputMessages: Array.from({ length: 300 }, () => "\u0001".repeat(5000)) },
    ]
    for (const given of cases) {
      const text = notificationText({ ...turn, ...given })
      assert.isAtMost(bytesOf(text), maxBytes)
      const json = JSON.parse(text) as Record<string, unknown>
      assert.strictEqual(json["type"], "agent-turn-complete")
      assert.isTrue(text.isWellFormed())
    }
  })

  it("keeps what is short when another text is long, and the latest of too many messages", () => {
    const json = (given: Partial<CompletedTurn>): Record<string, unknown> =>
      JSON.parse(notificationText({ ...turn, ...given }))
    const shortened = json({ inputMessages: ["short", "x".repeat(1_000_000)] })
    assert.strictEqual((shortened["input-messages"] as ReadonlyArray<string>)[0], "short")
    assert.match((shortened["input-messages"] as ReadonlyArray<string>)[1] ?? "", /^x+…$/)
    assert.strictEqual(shortened["last-assistant-message"], "answer")
    const many = json({ inputMessages: Array.from({ length: 20_000 }, (_, i) => `message ${i}`) })
    assert.strictEqual((many["input-messages"] as ReadonlyArray<string>).at(-1), "message 19999")
  })
})
