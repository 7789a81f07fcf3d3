import { assert, describe, it } from "@effect/vitest"
import * as Wire from "../src/Wire.ts"

const event = (msg: object) =>
  `{"jsonrpc":"2.0","method":"codex/event","params":{"id":"1","msg":${JSON.stringify(msg)}}}\n`
const answer = (result: object) => `{"jsonrpc":"2.0","id":7,"result":${JSON.stringify(result)}}\n`
const done = answer({ content: [], structuredContent: { threadId: "t", content: "ab" } })

describe("reading what was timed", () => {
  it("counts delta events and joins their texts, wherever the chunks were cut", () => {
    const text =
      event({ type: "task_started", model_context_window: null }) +
      event({ type: "agent_message_delta", delta: "a" }) +
      event({ type: "agent_message_delta", delta: "b" }) +
      done
    const bytes = Buffer.from(text)
    assert.deepStrictEqual(Wire.read([bytes.subarray(0, 100), bytes.subarray(100)]), {
      threadId: "t",
      answer: "ab",
      deltaEvents: 2,
      deltaText: "ab",
      bytes: bytes.length,
    })
  })

  it.each([
    [
      "an error of the protocol",
      `{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"x"}}\n`,
    ],
    [
      "a failed turn",
      answer({ isError: true, content: [], structuredContent: { threadId: "t", content: "x" } }),
    ],
  ])("refuses to time %s", (_, text) => {
    assert.throws(() => Wire.read([Buffer.from(text)]), /the tool call failed/)
  })
})
