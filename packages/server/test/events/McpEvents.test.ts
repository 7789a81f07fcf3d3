import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { wireEvent } from "../../src/events/McpEvents.ts"

const wire = (msg: EventMsg) =>
  wireEvent({ seq: 3, id: "t", msg }, { requestId: 7, threadId: "thread" })

describe("McpEvents", () => {
  it("carries a request for approval as the original does, with what the command does", () => {
    const msg: EventMsg = {
      type: "exec_approval_request",
      call_id: "c",
      command: ["git", "push"],
      cwd: "/work",
      parsed_cmd: [{ type: "unknown", cmd: "git push" }],
    }
    assert.deepStrictEqual(wire(msg), {
      _meta: { requestId: 7, threadId: "thread" },
      id: "t",
      msg,
    })
  })

  it("carries the beginning and the end of a review", () => {
    const shown: ReadonlyArray<EventMsg> = [
      { type: "entered_review_mode", prompt: "p", user_facing_hint: "h" },
      { type: "exited_review_mode", review_output: null },
    ]
    for (const msg of shown) assert.deepInclude(wire(msg), { id: "t", msg }, msg.type)
  })

  it("hides what the original never sent", () => {
    const hidden: ReadonlyArray<EventMsg> = [
      { type: "approval_resolved", call_id: "c", decision: "denied", reason: "expired" },
      { type: "user_message", message: "hi" },
      { type: "raw_response_item", item: { type: "web_search_call" } },
      { type: "compacted", message: "what was said" },
      { type: "request_user_input", call_id: "c", questions: [] },
      { type: "request_permissions", call_id: "c", permissions: {}, cwd: "/" },
      { type: "mcp_tool_call_progress", call_id: "c", progress: 1, total: 2, message: "half" },
    ]
    for (const msg of hidden) assert.isUndefined(wire(msg), msg.type)
  })
})
