import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { appServerEvent, type EventFormat } from "../../src/events/V1Events.ts"

const original: EventFormat = { raw: false, all: false }
const sent = (msg: EventMsg, format: EventFormat) => appServerEvent(msg, format) !== undefined

const ours: ReadonlyArray<EventMsg> = [
  {
    type: "session_configured",
    session_id: "s",
    model: "m",
    history_log_id: 0,
    history_entry_count: 0,
  },
  { type: "user_message", message: "hi" },
  { type: "approval_resolved", call_id: "c", decision: "denied", reason: "expired" },
  { type: "elicitation_request", server_name: "s", id: "e", message: "?", requested_schema: {} },
  { type: "compacted", message: "what was said" },
  { type: "request_user_input", call_id: "c", questions: [] },
  { type: "request_permissions", call_id: "c", permissions: {}, cwd: "/" },
  { type: "mcp_tool_call_progress", call_id: "c", progress: 1, total: 2, message: "half" },
]
const rawItem: EventMsg = { type: "raw_response_item", item: { type: "web_search_call" } }

describe("V1Events", () => {
  it("sends events that the original never sent only to listeners that gave `after`", () => {
    for (const msg of ours) {
      assert.isFalse(sent(msg, original), msg.type)
      assert.isFalse(sent(msg, { raw: true, all: false }), msg.type)
      assert.isTrue(sent(msg, { raw: false, all: true }), msg.type)
    }
  })

  it("sends raw items only to listeners that asked for them", () => {
    assert.isFalse(sent(rawItem, original))
    assert.isFalse(sent(rawItem, { raw: false, all: true }))
    assert.isTrue(sent(rawItem, { raw: true, all: false }))
  })

  it("sends the beginning and the end of a review to every listener", () => {
    assert.isTrue(
      sent({ type: "entered_review_mode", prompt: "p", user_facing_hint: "h" }, original),
    )
    assert.isTrue(sent({ type: "exited_review_mode", review_output: null }, original))
  })

  it("sends the original's events to every listener, with the token usage of the last response flat", () => {
    const usage = {
      input_tokens: 1,
      cached_input_tokens: 0,
      output_tokens: 2,
      reasoning_output_tokens: 0,
      total_tokens: 3,
    }
    const info = { total_token_usage: usage, last_token_usage: usage, model_context_window: null }
    assert.deepStrictEqual<unknown>(appServerEvent({ type: "token_count", info }, original), {
      type: "token_count",
      info,
      ...usage,
    })
  })
})
