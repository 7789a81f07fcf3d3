import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { progressMessage } from "../../../src/mcp/codex/ProgressMessages.ts"

const said = (message: string) => progressMessage({ type: "agent_message", message })

const begin = (command: ReadonlyArray<string>): EventMsg => ({
  type: "exec_command_begin",
  call_id: "c",
  command,
  cwd: "/w",
})

describe("ProgressMessages", () => {
  it.each<readonly [msg: EventMsg, line: string | undefined]>([
    [begin(["ls", "-l", "a b"]), "running `ls -l 'a b'`"],
    [begin(["bash", "-c", "a && b"]), "running `a && b`"],
    [begin([]), "running ``"],
    [{ type: "error", message: "broken" }, "error: broken"],
    [
      {
        type: "elicitation_request",
        server_name: "files",
        id: "1",
        message: "Which one?",
        requested_schema: {},
      },
      "asking for tool server files",
    ],
    [{ type: "entered_review_mode", prompt: "p", user_facing_hint: "it all" }, "reviewing: it all"],
    [
      {
        type: "request_user_input",
        call_id: "c",
        questions: [
          {
            id: "a",
            header: "A",
            question: "Which?",
            is_other: true,
            is_secret: false,
            options: null,
          },
        ],
      },
      "asking: Which?",
    ],
    [{ type: "stream_error", message: "again in 2 s" }, "again in 2 s"],
    [{ type: "agent_reasoning", text: "**Why**\nnot" }, "thinking: **Why** not"],
    [{ type: "view_image_tool_call", call_id: "c", path: "/a.png" }, "looking at /a.png"],
    [{ type: "plan_update", explanation: null, plan: [] }, "plan: 0 of 0 steps done"],
    [
      {
        type: "apply_patch_approval_request",
        call_id: "c",
        changes: { "/a": { delete: { content: "" } } },
      },
      "asking whether to patch 1 file",
    ],
    [
      {
        type: "approval_resolved",
        call_id: "c",
        decision: "approved_for_session",
        reason: "answered",
      },
      "decided: approved for session",
    ],
    [{ type: "agent_message_delta", delta: "x" }, undefined],
    [{ type: "turn_diff", unified_diff: "x" }, undefined],
    [{ type: "task_complete", last_agent_message: "x" }, undefined],
  ])("%j", (msg, line) => {
    assert.strictEqual(progressMessage(msg), line)
  })

  it("a long text is cut, never in the middle of a character", () => {
    assert.strictEqual(said("x".repeat(100)), `message: ${"x".repeat(100)}`)
    assert.strictEqual(said("x".repeat(101)), `message: ${"x".repeat(100)}…`)
    assert.strictEqual(said(`${"x".repeat(99)}😀`), `message: ${"x".repeat(99)}…`)
    assert.strictEqual(said(`a${" ".repeat(10_000)}b`), "message: a…")
  })

  it("one line, without control characters for a terminal", () => {
    const line = said("a\r\nb\u001b[2Kc\u202Ed")
    assert.strictEqual(line, "message: $'a b\\x1b[2Kc\\u202ed'")
  })

  it("a command of a million words takes no longer than the part that is shown", () => {
    const line = progressMessage(begin(Array.from({ length: 1_000_000 }, () => "w"))) ?? ""
    assert.isBelow(line.length, 130)
  })
})
