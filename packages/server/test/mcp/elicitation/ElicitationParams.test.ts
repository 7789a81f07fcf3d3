import type { Event } from "@colloquy/protocol/EventMsg"
import { decisionForm } from "@colloquy/protocol/mcp/Elicitation"
import { assert, describe, it } from "@effect/vitest"
import { elicitParams } from "../../../src/mcp/elicitation/ElicitationParams.ts"
import { isQuestion } from "../../../src/questions/Question.ts"

const paramsOf = (event: Event, requestId: number | string, threadId: string) => {
  if (!isQuestion(event)) assert.fail("expected a question")
  return JSON.stringify(elicitParams(event, { requestId, threadId }))
}

describe("ElicitationParams", () => {
  it("puts the agent's questions as a form", () => {
    const questions = [
      {
        id: "colour",
        header: "Colour",
        question: "Which?",
        is_other: false,
        is_secret: false,
        options: [{ label: "Red", description: "" }],
      },
    ]
    assert.strictEqual(
      paramsOf(
        { seq: 9, id: "t", msg: { type: "request_user_input", call_id: "c", questions } },
        2,
        "thread",
      ),
      JSON.stringify({
        message: 'The agent asks: "Which?"',
        requestedSchema: {
          type: "object",
          properties: {
            colour: {
              type: "string",
              title: '"Colour"',
              description: '"Which?\\n" "Red"',
              enum: ["Red"],
            },
          },
          required: ["colour"],
        },
        threadId: "thread",
      }),
    )
  })

  it("asks about a command as 0.153 does, except for the form (recording `on_request_escalated`)", () => {
    const command = ["/bin/bash", "-lc", "touch made.txt"]
    const parsed = [{ type: "unknown", cmd: "touch made.txt" }] as const
    assert.strictEqual(
      paramsOf(
        {
          seq: 9,
          id: "01a1fa43-eeaf-7912-831b-4f6141ebd034",
          msg: {
            type: "exec_approval_request",
            call_id: "call_00001h",
            command,
            cwd: "/workspace",
            parsed_cmd: parsed,
          },
        },
        2,
        "01a1fa43-ee9a-7673-9de7-e853201e8cd6",
      ),
      JSON.stringify({
        message: "Allow Codex to run `/bin/bash -lc 'touch made.txt'` in `/workspace`?",
        requestedSchema: decisionForm(),
        threadId: "01a1fa43-ee9a-7673-9de7-e853201e8cd6",
        codex_elicitation: "exec-approval",
        codex_mcp_tool_call_id: "2",
        codex_event_id: "01a1fa43-eeaf-7912-831b-4f6141ebd034",
        codex_call_id: "call_00001h",
        codex_command: command,
        codex_cwd: "/workspace",
        codex_parsed_cmd: parsed,
      }),
    )
  })

  it("asks about a patch as 0.29 does, except for the form and the thread (recording `patch_fn_approve`)", () => {
    const changes = {
      "/workspace/hello.txt": {
        update: { unified_diff: "@@ -1,2 +1,2 @@\n-hello\n+goodbye\n world\n", move_path: null },
      },
    }
    assert.strictEqual(
      paramsOf(
        {
          seq: 9,
          id: "2",
          msg: { type: "apply_patch_approval_request", call_id: "call_00004r", changes },
        },
        "a text",
        "t",
      ),
      JSON.stringify({
        message: "Allow Codex to apply proposed code changes?",
        requestedSchema: decisionForm(),
        threadId: "t",
        codex_elicitation: "patch-approval",
        codex_mcp_tool_call_id: "a text",
        codex_event_id: "2",
        codex_call_id: "call_00004r",
        codex_changes: changes,
      }),
    )
  })

  it("recognizes no other event as a question", () => {
    assert.isFalse(isQuestion({ seq: 0, id: "", msg: { type: "warning", message: "w" } }))
  })
})
