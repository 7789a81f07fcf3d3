/** The conversations and records that the conformance suite stores. Pure. */
import type { ConversationMeta } from "@colloquy/core/ConversationStore"
import { eventRecord, type LogRecord } from "@colloquy/core/LogRecord"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { ConversationId, uuidV7 } from "@colloquy/protocol/Ids"

/** 2025-09-20T08:11:12.345Z */
const startMs = 1_758_355_872_345

/**
 * Metadata of a conversation.
 *
 * @param number distinguishes conversations; a larger number gives a later time and a larger id
 */
export const sampleMeta = (
  number: number,
  more: Partial<ConversationMeta> = {},
): ConversationMeta => ({
  id: ConversationId.make(uuidV7(startMs + number * 1000, [1, 2, 3, number])),
  createdAtMs: startMs + number * 1000,
  cwd: "/w",
  originator: "colloquy",
  version: "0.1.0",
  provider: "offline",
  model: "offline",
  ...more,
})

/** Records of events numbered from `from`, one millisecond apart. */
export const eventsFrom = (
  from: number,
  messages: ReadonlyArray<EventMsg>,
  id = "0",
): ReadonlyArray<LogRecord> =>
  messages.map((msg, i) => eventRecord(startMs + from + i, { seq: from + i, id, msg }))

/** The two records that every log of the suite starts with. */
export const firstRecords = (meta: ConversationMeta): ReadonlyArray<LogRecord> => [
  ...eventsFrom(
    0,
    [
      {
        type: "session_configured",
        session_id: meta.id,
        model: meta.model ?? "",
        history_log_id: 0,
        history_entry_count: 0,
      },
    ],
    "",
  ),
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

/** A message that a person entered. */
export const userMessage = (text: string): EventMsg => ({
  type: "user_message",
  message: text,
  kind: "plain",
})

/** Three events of one turn; the first has the number `from`. */
export const exchange = (from: number, text: string): ReadonlyArray<LogRecord> =>
  eventsFrom(
    from,
    [
      {
        type: "raw_response_item",
        item: { type: "message", role: "user", content: [{ type: "input_text", text }] },
      },
      userMessage(text),
      { type: "agent_message", message: `about ${text}` },
    ],
    `turn-${from}`,
  )

const output = "a long line of output\n".repeat(20)

/** One event of every kind that a turn with a command has. */
const turnEvents: ReadonlyArray<EventMsg> = [
  { type: "task_started", model_context_window: null },
  userMessage("run it"),
  { type: "exec_approval_request", call_id: "c1", command: ["ls"], cwd: "/w" },
  { type: "approval_resolved", call_id: "c1", decision: "approved", reason: "answered" },
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
  { type: "task_complete", last_agent_message: null },
]

/** Records of one turn that include every kind of record. */
export const fullTurn = (from: number): ReadonlyArray<LogRecord> => {
  const id = "0"
  const atMs = startMs + from
  const events = eventsFrom(from, turnEvents, id)
  return [
    { _tag: "Submission", atMs, id, chosen: true, receipt: { id, disposition: "started" } },
    ...events.slice(0, 2),
    {
      _tag: "ToolCall",
      atMs,
      turnId: id,
      callId: "c1",
      name: "shell",
      replay: "ask",
      attempt: 1,
    },
    ...events.slice(2),
    { _tag: "Attempt", atMs, turnId: id, attempt: 2 },
    {
      _tag: "Submission",
      atMs: atMs + 1,
      id: "later",
      chosen: false,
      receipt: { id: "later", disposition: "waiting" },
      op: { type: "user_input", items: [{ type: "text", text: "and then" }] },
      first: true,
    },
  ]
}
