import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { newest, type ResourceItem, resourceItemsOf } from "../../../src/mcp/conversation/Items.ts"
import { transcriptOf } from "../../../src/mcp/conversation/Transcript.ts"

const events = (...msgs: ReadonlyArray<EventMsg>) => msgs.map((msg, seq) => ({ seq, id: "1", msg }))
const duration = { secs: 0, nanos: 0 }
const invocation = { server: "s", tool: "t", arguments: { a: 1 } }

const said = events(
  { type: "user_message", message: "instructions", kind: "user_instructions" },
  { type: "user_message", message: "list ```it```", kind: "plain" },
  { type: "task_started", model_context_window: null },
  { type: "agent_reasoning", text: "I look\nclosely" },
  { type: "exec_command_begin", call_id: "a", command: ["ls", "a b"], cwd: "/" },
  { type: "exec_command_begin", call_id: "b", command: ["sleep", "9"], cwd: "/" },
  {
    type: "exec_command_end",
    call_id: "a",
    stdout: "out\n",
    stderr: "err",
    exit_code: 1,
    duration,
  },
  {
    type: "patch_apply_begin",
    call_id: "p",
    auto_approved: true,
    changes: { "/f": { add: { content: "x" } } },
  },
  { type: "patch_apply_end", call_id: "p", stdout: "", stderr: "", success: true },
  { type: "mcp_tool_call_begin", call_id: "m", invocation },
  { type: "mcp_tool_call_end", call_id: "m", invocation, duration, result: { Err: "no" } },
  {
    type: "plan_update",
    explanation: null,
    plan: [
      { step: "one", status: "completed" },
      { step: "two", status: "in_progress" },
      { step: "three", status: "pending" },
    ],
  },
  { type: "error", message: "broke" },
  { type: "agent_message", message: "done" },
  { type: "turn_aborted", reason: "interrupted" },
  // The end of a call without a start.
  { type: "exec_command_end", call_id: "z", stdout: "", stderr: "", exit_code: 0, duration },
)

describe("Items", () => {
  it("lists messages and calls in order, each call with its end", () => {
    assert.deepStrictEqual(resourceItemsOf(said), [
      { type: "message", role: "user", text: "list ```it```" },
      { type: "reasoning", text: "I look\nclosely" },
      {
        type: "command",
        call_id: "a",
        command: ["ls", "a b"],
        cwd: "/",
        exit_code: 1,
        output: "out\nerr",
      },
      { type: "command", call_id: "b", command: ["sleep", "9"], cwd: "/" },
      { type: "patch", call_id: "p", files: ["/f"], success: true },
      {
        type: "tool_call",
        call_id: "m",
        server: "s",
        tool: "t",
        arguments: { a: 1 },
        success: false,
      },
      {
        type: "plan",
        steps: [
          { step: "one", status: "completed" },
          { step: "two", status: "in_progress" },
          { step: "three", status: "pending" },
        ],
      },
      { type: "error", message: "broke" },
      { type: "message", role: "assistant", text: "done" },
      { type: "interrupted", reason: "interrupted" },
    ])
  })

  it("renders Markdown with fences that no text can end", () => {
    assert.strictEqual(
      transcriptOf("Title", resourceItemsOf(said), 2),
      [
        "# Title",
        "_2 earlier items left out._",
        "## User\n\nlist ```it```",
        "> I look\n> closely",
        "Command (exit code 1):\n\n```sh\nls 'a b'\n```\n\n```\nout\nerr\n```",
        "Command (running):\n\n```sh\nsleep 9\n```",
        "Patch (done):\n\n- /f",
        'Tool s/t (failed):\n\n```json\n{\n  "a": 1\n}\n```',
        "- [x] one\n- [~] two\n- [ ] three",
        "**Error:** broke",
        "## Agent\n\ndone",
        "**Interrupted** (interrupted)",
        "",
      ]
        .join("\n\n")
        .replace(/\n\n$/, "\n"),
    )
    const tricky: ResourceItem = {
      type: "command",
      call_id: "a",
      command: ["it's"],
      cwd: "/",
      exit_code: 0,
      output: "````\n",
    }
    assert.include(transcriptOf("T", [tricky], 0), "`````\n````\n`````")
    assert.include(transcriptOf("T", [tricky], 0), String.raw`'it'\''s'`)
  })

  it("cuts a text over 64 KiB with a note, and includes the newest 4 MiB in all", () => {
    const [item] = resourceItemsOf(events({ type: "agent_message", message: "x".repeat(70_000) }))
    assert.isTrue(item?.type === "message" && item.text.endsWith("x\n[4464 more characters]"))
    const large: ResourceItem = { type: "reasoning", text: "x".repeat(60_000) }
    const many = Array.from({ length: 100 }, (_, i): ResourceItem => ({
      ...large,
      text: `${i}${large.text}`,
    }))
    const { items, omitted } = newest(many)
    assert.strictEqual(items.length + omitted, 100)
    assert.strictEqual(items.at(-1), many.at(-1))
    assert.isAtMost(JSON.stringify(items).length, 4 * 1024 * 1024)
    assert.isAbove(items.length, 60)
    assert.deepStrictEqual(newest([]), { items: [], omitted: 0 })
  })
})
