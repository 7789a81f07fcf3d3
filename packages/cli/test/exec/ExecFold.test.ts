import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { ExecFold } from "../../src/exec/ExecFold.ts"

const usage = {
  input_tokens: 11,
  cached_input_tokens: 3,
  output_tokens: 7,
  reasoning_output_tokens: 2,
  total_tokens: 18,
}
const info = { total_token_usage: usage, last_token_usage: usage, model_context_window: null }

/** The events that `exec` reports for these of one turn. */
const reported = (...messages: ReadonlyArray<EventMsg>) => {
  const fold = new ExecFold("t", "/workspace")
  return messages.flatMap((msg, seq) => fold.add({ seq, id: "t", msg }))
}

const started: EventMsg = { type: "task_started", model_context_window: null }
const completed: EventMsg = { type: "task_complete", last_agent_message: null }
const begin: EventMsg = {
  type: "exec_command_begin",
  call_id: "c",
  command: ["bash", "-lc", "echo out"],
  cwd: "/workspace",
}
const duration = { secs: 0, nanos: 5 }
const command = {
  id: "item_0",
  type: "command_execution",
  command: "bash -lc 'echo out'",
} as const
const wholeUsage = {
  input_tokens: 11,
  cached_input_tokens: 3,
  cache_write_input_tokens: 0,
  output_tokens: 7,
  reasoning_output_tokens: 2,
}

describe("ExecFold", () => {
  it("reports a call that was refused, and of a patch the files that it names", () => {
    const refusal = (tool: string, args: unknown, reason: string): ReadonlyArray<EventMsg> => [
      { type: "tool_call_begin", call_id: tool, tool, arguments: args },
      { type: "tool_call_end", call_id: tool, tool, duration, result: { Err: reason } },
    ]
    const input = [
      "*** Begin Patch",
      "*** Update File: a.txt",
      "-x",
      "*** Add File: /b/c.txt",
      "*** Delete File: a/../d.txt",
      "*** Oops File: e.txt",
    ].join("\n")
    const items = reported(
      ...refusal("nope", {}, "unsupported call: nope"),
      ...refusal("apply_patch", { input }, "it does not apply"),
      ...refusal("apply_patch", 5, "no patch"),
      { type: "tool_call_begin", call_id: "ok", tool: "own", arguments: {} },
      { type: "tool_call_end", call_id: "ok", tool: "own", duration, result: { Ok: 1 } },
    )
    const changes = [
      { path: "/workspace/a.txt", kind: "update" },
      { path: "/b/c.txt", kind: "add" },
      { path: "/workspace/d.txt", kind: "delete" },
    ]
    const status = "failed"
    assert.deepStrictEqual<unknown>(
      items,
      [
        { type: "error", message: "nope: unsupported call: nope" },
        { type: "file_change", changes, status },
        { type: "error", message: "apply_patch: it does not apply" },
        { type: "file_change", changes: [], status },
        { type: "error", message: "apply_patch: no patch" },
      ].map((item, at) => ({
        type: "item.completed",
        item: { id: `item_${at}`, ...item },
      })),
    )
  })

  it("reports messages and reasoning once, without their deltas, and the tokens of the thread", () => {
    assert.deepStrictEqual(
      reported(
        started,
        { type: "agent_reasoning_delta", delta: "Thi" },
        { type: "agent_reasoning", text: "Think" },
        { type: "agent_message_delta", delta: "an" },
        { type: "agent_message", message: "answer" },
        { type: "token_count", info },
        completed,
      ),
      [
        { type: "turn.started" },
        { type: "item.completed", item: { id: "item_0", type: "reasoning", text: "Think" } },
        { type: "item.completed", item: { id: "item_1", type: "agent_message", text: "answer" } },
        { type: "turn.completed", usage: wholeUsage },
      ],
    )
  })

  it("begins with the tokens of earlier turns", () => {
    const fold = new ExecFold("t", "/workspace", usage)
    assert.deepStrictEqual(fold.add({ seq: 0, id: "t", msg: completed }), [
      { type: "turn.completed", usage: wholeUsage },
    ])
  })

  it("starts and completes a command", () => {
    assert.deepStrictEqual(
      reported(begin, {
        type: "exec_command_end",
        call_id: "c",
        stdout: "out\n",
        stderr: "",
        aggregated_output: "out\n",
        exit_code: 2,
        duration,
      }),
      [
        {
          type: "item.started",
          item: { ...command, aggregated_output: "", exit_code: null, status: "in_progress" },
        },
        {
          type: "item.completed",
          item: { ...command, aggregated_output: "out\n", exit_code: 2, status: "failed" },
        },
      ],
    )
  })

  it("completes an interrupted command with the output that it had, before the turn fails", () => {
    const chunk = Buffer.from("half \u00e9").toString("base64")
    const [, ...rest] = reported(
      begin,
      { type: "exec_command_output_delta", call_id: "c", stream: "stdout", chunk },
      { type: "turn_aborted", reason: "interrupted" },
    )
    assert.deepStrictEqual(rest, [
      {
        type: "item.completed",
        item: {
          ...command,
          aggregated_output: "half \u00e9",
          exit_code: null,
          status: "failed",
        },
      },
      { type: "turn.failed", error: { message: "the turn was interrupted" } },
    ])
  })

  it("completes everything that has begun where nothing more of the turn arrives, and fails", () => {
    const fold = new ExecFold("t", "/workspace")
    const plan: EventMsg = { type: "plan_update", explanation: null, plan: [] }
    const begun: ReadonlyArray<EventMsg> = [
      started,
      plan,
      begin,
      { type: "error", message: "no connection" },
      { type: "agent_message_delta", delta: "half an ans" },
    ]
    for (const [seq, msg] of begun.entries()) fold.add({ seq, id: "t", msg })
    const cut = fold.cut("the disk is full")
    assert.deepStrictEqual<unknown>(cut, [
      {
        type: "item.completed",
        item: { id: "item_3", type: "agent_message", text: "half an ans" },
      },
      {
        type: "item.completed",
        item: {
          ...command,
          id: "item_1",
          aggregated_output: "",
          exit_code: null,
          status: "failed",
        },
      },
      { type: "error", message: "the disk is full" },
      { type: "item.completed", item: { id: "item_0", type: "todo_list", items: [] } },
      { type: "turn.failed", error: { message: "the disk is full" } },
    ])
  })

  it("has one item for the plan, which the end of the turn completes", () => {
    const planned = (status: "completed" | "pending"): EventMsg => ({
      type: "plan_update",
      explanation: null,
      plan: [{ step: "one", status }],
    })
    const item = (isDone: boolean) => ({
      id: "item_0",
      type: "todo_list",
      items: [{ text: "one", completed: isDone }],
    })
    assert.deepStrictEqual<unknown>(
      reported(planned("pending"), planned("completed"), completed).slice(0, 3),
      [
        { type: "item.started", item: item(false) },
        { type: "item.updated", item: item(true) },
        { type: "item.completed", item: item(true) },
      ],
    )
  })

  it("reports the files of a patch, and the result of a tool of a server", () => {
    const invocation = { server: "lab", tool: "bad", arguments: { a: 1 } }
    const changes = { "/w/a.txt": { add: { content: "x" } } } as const
    const events = reported(
      { type: "patch_apply_begin", call_id: "p", auto_approved: true, changes },
      { type: "patch_apply_end", call_id: "p", stdout: "", stderr: "", success: false },
      { type: "mcp_tool_call_begin", call_id: "m", invocation },
      {
        type: "mcp_tool_call_end",
        call_id: "m",
        invocation,
        duration,
        result: { Ok: { content: [{ type: "text", text: "went wrong" }], isError: true } },
      },
    )
    assert.deepStrictEqual<unknown>(
      events.filter(({ type }) => type === "item.completed"),
      [
        {
          type: "item.completed",
          item: {
            id: "item_0",
            type: "file_change",
            changes: [{ path: "/w/a.txt", kind: "add" }],
            status: "failed",
          },
        },
        {
          type: "item.completed",
          item: {
            id: "item_1",
            type: "mcp_tool_call",
            ...invocation,
            result: { content: [{ type: "text", text: "went wrong" }], structured_content: null },
            error: null,
            status: "failed",
          },
        },
      ],
    )
  })

  it("reports repeated requests, warnings and why the turn failed", () => {
    assert.deepStrictEqual(
      reported(
        { type: "warning", message: "careful" },
        { type: "stream_error", message: "Reconnecting... 1/2" },
        { type: "error", message: "bad key" },
        completed,
      ),
      [
        { type: "item.completed", item: { id: "item_0", type: "error", message: "careful" } },
        { type: "error", message: "Reconnecting... 1/2" },
        { type: "error", message: "bad key" },
        { type: "turn.failed", error: { message: "bad key" } },
      ],
    )
  })

  it("reports nothing of other turns", () => {
    const fold = new ExecFold("t", "/workspace")
    assert.deepStrictEqual(fold.add({ seq: 0, id: "other", msg: completed }), [])
  })

  it("an error that the turn goes on after is a warning", () => {
    const events = reported(
      started,
      { type: "error", message: "MCP client for `x` failed to start" },
      { type: "agent_message", message: "done" },
      completed,
    )
    assert.deepStrictEqual(
      events.map((event) => (event.type === "item.completed" ? event.item.type : event.type)),
      ["turn.started", "error", "agent_message", "turn.completed"],
    )
  })
})
