/** Conversations and records to store in tests. */
import type { ConversationMeta } from "@colloquy/core/ConversationStore"
import { eventRecord, type LogRecord } from "@colloquy/core/LogRecord"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { ConversationId, uuidV7 } from "@colloquy/protocol/Ids"

/** 2025-09-20T08:11:12.345Z */
export const startMs = 1_758_355_872_345

export const idOf = (number: number): ConversationId =>
  ConversationId.make(uuidV7(startMs, [1, 2, 3, number]))

export const metaOf = (number: number, more: Partial<ConversationMeta> = {}): ConversationMeta => ({
  id: idOf(number),
  createdAtMs: startMs + number,
  cwd: "/w",
  originator: "colloquy",
  version: "0.1.0",
  provider: "offline",
  model: "offline",
  ...more,
})

export const events = (
  from: number,
  messages: ReadonlyArray<EventMsg>,
  id = "0",
): ReadonlyArray<LogRecord> =>
  messages.map((msg, i) => eventRecord(startMs + from + i, { seq: from + i, id, msg }))

export const sessionConfigured = (meta: ConversationMeta): EventMsg => ({
  type: "session_configured",
  session_id: meta.id,
  model: meta.model ?? "",
  history_log_id: 0,
  history_entry_count: 0,
})

/** The first records of every conversation. */
export const firstRecords = (meta: ConversationMeta): ReadonlyArray<LogRecord> => [
  ...events(0, [sessionConfigured(meta)], ""),
  {
    _tag: "Settings",
    atMs: startMs,
    settings: {
      model: meta.model ?? "",
      provider: meta.provider ?? "",
      cwd: meta.cwd,
      approvalPolicy: "on-request",
      sandboxPolicy: { mode: "read-only" },
      summary: "auto",
    },
  },
]

export const message = (role: "user" | "assistant", text: string): EventMsg => ({
  type: "raw_response_item",
  item: {
    type: "message",
    role,
    content: [{ type: role === "user" ? "input_text" : "output_text", text }],
  },
})

export const userMessage = (text: string): EventMsg => ({
  type: "user_message",
  message: text,
  kind: "plain",
})

/** A turn with a command: 10 events and 2 other records. */
export const turn = (
  from: number,
  id: string,
  text: string,
  output = "out",
): ReadonlyArray<LogRecord> => {
  const [begun, ...rest] = events(
    from,
    [
      { type: "task_started", model_context_window: null },
      message("user", text),
      userMessage(text),
      {
        type: "raw_response_item",
        item: { type: "function_call", name: "shell", arguments: "{}", call_id: "c1" },
      },
      { type: "exec_command_begin", call_id: "c1", command: ["ls"], cwd: "/w" },
      {
        type: "exec_command_end",
        call_id: "c1",
        stdout: output,
        stderr: "",
        aggregated_output: output,
        exit_code: 0,
        duration: { secs: 0, nanos: 5 },
        formatted_output: output,
      },
      {
        type: "raw_response_item",
        item: { type: "function_call_output", call_id: "c1", output },
      },
      message("assistant", `about ${text}`),
      { type: "agent_message", message: `about ${text}` },
      { type: "task_complete", last_agent_message: `about ${text}` },
    ],
    id,
  )
  const atMs = startMs + from
  return [
    { _tag: "Submission", atMs, id, chosen: false, receipt: { id, disposition: "started" } },
    ...(begun === undefined ? [] : [begun]),
    ...rest.slice(0, 3),
    {
      _tag: "ToolCall",
      atMs,
      turnId: id,
      callId: "c1",
      name: "shell",
      replay: "ask",
      attempt: 1,
    },
    ...rest.slice(3),
  ]
}
