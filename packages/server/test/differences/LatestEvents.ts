/** Differences of events that only 0.153.4 shows. */
import { type Difference, everywhere, only } from "./Difference.ts"
import { added, anyOf, changed, eventMembers, missing, msgOf, same } from "./Explain.ts"

const version = "0.153.4"
const isUuid = (value: unknown) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(value))
const isTurnId = (value: unknown) => /^(\d+|req-abc)$/.test(String(value))

/** What the original assumes about an unknown model. */
const assumedWindow = 258_400

/** A `token_count` without any count. */
const hasNoCount = (original: unknown) =>
  original !== undefined &&
  msgOf(original)["type"] === "token_count" &&
  msgOf(original)["info"] === null

const wholeEvents = (...types: ReadonlyArray<string>) =>
  missing(new RegExp(`^event:(${types.join("|")})$`), "")

export const latestEvents: ReadonlyArray<Difference> = [
  {
    key: "turn-ids",
    original: "Events and approval requests name their turn by a UUID.",
    colloquy:
      "They name it as earlier versions do: by the id of the request in a new conversation, otherwise by a counter.",
    why: "Clients of all earlier versions read it so; `_meta.requestId` is the same in all.",
    proofs: [everywhere(version, "simple", "2")],
    explains: anyOf(
      changed(/^event:/, "params.id", (a, b) => isUuid(a) && isTurnId(b)),
      changed("elicitation/create", "params.codex_event_id", (a, b) => isUuid(a) && isTurnId(b)),
    ),
  },
  {
    key: "turn-members",
    original: "The first and the last event of a turn have its id, its times and its mode.",
    colloquy: "They do not.",
    why: "A client has a clock, and nothing else refers to the id.",
    proofs: [everywhere(version, "simple", "2")],
    explains: eventMembers(
      "missing",
      /^event:(task_started|task_complete|turn_aborted)$/,
      "turn_id",
      "started_at",
      "completed_at",
      "duration_ms",
      "time_to_first_token_ms",
      "collaboration_mode_kind",
    ),
  },
  {
    key: "item-events",
    original:
      "Messages, commands and reasoning are also sent as `item_started` and `item_completed`.",
    colloquy: "They are sent once, in the events that all versions have.",
    why: "The same text is not sent twice.",
    proofs: [everywhere(version, "simple", "2")],
    explains: wholeEvents("item_started", "item_completed"),
  },
  {
    key: "raw-events",
    original:
      "Input and output of the model are sent as `raw_response_item` and `raw_response_completed`.",
    colloquy: "They are not sent.",
    why: "They repeat the other events and disclose the instructions.",
    proofs: [everywhere(version, "simple", "2")],
    explains: wholeEvents("raw_response_item", "raw_response_completed"),
  },
  {
    key: "user-message",
    original: "The prompt is sent back as `user_message`.",
    colloquy: "It is not sent back.",
    why: "The client has sent it.",
    proofs: [everywhere(version, "simple", "2")],
    explains: wholeEvents("user_message"),
  },
  {
    key: "startup-events",
    original:
      "A new conversation sends `mcp_startup_complete` even without tool servers, and `warning` for a model that the original does not know.",
    colloquy: "Neither is sent.",
    why: "Nothing has happened that a client could act on.",
    proofs: [everywhere(version, "simple", "2")],
    explains: wholeEvents("mcp_startup_complete", "warning"),
  },
  {
    key: "delta-names",
    original:
      "Parts of texts are sent as `agent_message_content_delta` and `reasoning_content_delta`, with the ids of turn and item.",
    colloquy: "They are sent as `agent_message_delta` and `agent_reasoning_delta`.",
    why: "Clients of all earlier versions read these; the event that ends a message is the same.",
    proofs: [everywhere(version, "deltas", "2")],
    explains: anyOf(
      wholeEvents(
        "agent_message_content_delta",
        "reasoning_content_delta",
        "reasoning_raw_content_delta",
      ),
      added(/^event:agent_(message|reasoning)_delta$/, ""),
    ),
  },
  {
    key: "text-members",
    original:
      "`agent_message`, `agent_reasoning_section_break` and `error` have further members, such as `phase`, `memory_citation` and `codex_error_info`.",
    colloquy: "They have the text.",
    why: "Most of these members are empty.",
    proofs: [everywhere(version, "reasoning", "2")],
    explains: eventMembers(
      "missing",
      /^event:(agent_message|agent_reasoning_section_break|error)$/,
      "phase",
      "memory_citation",
      "item_id",
      "summary_index",
      "codex_error_info",
    ),
  },
  {
    key: "session-members",
    original: "`session_configured` has `permission_profile` and `approvals_reviewer`.",
    colloquy:
      "It has `sandbox_policy`, `history_log_id` and `history_entry_count` of earlier versions instead.",
    why: "The sandbox policy says the same in the older shape.",
    proofs: [everywhere(version, "simple", "2")],
    explains: anyOf(
      eventMembers(
        "missing",
        /^event:session_configured$/,
        "approvals_reviewer",
        "permission_profile",
      ),
      eventMembers(
        "added",
        /^event:session_configured$/,
        "history_log_id",
        "history_entry_count",
        "sandbox_policy",
      ),
    ),
  },
  {
    key: "token-members",
    original: "`token_count` has limits with empty members, and the tokens written to a cache.",
    colloquy: "It has no limits that are unknown, and also the flat members of 0.29.",
    why: "Clients of the oldest versions read the flat members.",
    proofs: [everywhere(version, "simple", "2")],
    explains: anyOf(
      eventMembers(
        "added",
        /^event:token_count$/,
        "input_tokens",
        "cached_input_tokens",
        "output_tokens",
        "reasoning_output_tokens",
        "total_tokens",
      ),
      eventMembers(
        "missing",
        /^event:token_count$/,
        "info.total_token_usage.cache_write_input_tokens",
        "info.last_token_usage.cache_write_input_tokens",
      ),
      changed(
        "event:token_count",
        "params.msg.rate_limits",
        (a, b) =>
          b === null &&
          Object.entries(a as object).every(([key, value]) => key === "limit_id" || value === null),
      ),
    ),
  },
  {
    key: "empty-token-count",
    original: "After an incomplete model response `token_count` is sent without any count.",
    colloquy: "It is not sent.",
    why: "It has no information.",
    proofs: [only(version, "model_drop", "2"), only(version, "cancel_stream", "2")],
    explains: missing("event:token_count", "", hasNoCount),
  },
  {
    key: "context-window",
    original: "The context window of an unknown model is sent as 258,400 tokens.",
    colloquy: "It is sent as `null`.",
    why: "An assumption should not look like a fact.",
    proofs: [everywhere(version, "simple", "2")],
    explains: changed(
      /^event:(task_started|token_count)$/,
      /^params\.msg\.(info\.)?model_context_window$/,
      (a, b) => a === assumedWindow && b === null,
    ),
  },
  {
    key: "command-members",
    original:
      "Events of commands also have the process, the turn, times and the source; the directory is a `file:` URL, and the end event repeats the command.",
    colloquy: "They have the members of earlier versions; the directory is a path.",
    why: "`call_id` relates the end event to the begin event.",
    proofs: [everywhere(version, "shell_ok", "2")],
    explains: anyOf(
      eventMembers(
        "missing",
        /^event:exec_command_(begin|end)$/,
        "process_id",
        "source",
        "started_at_ms",
        "completed_at_ms",
        "turn_id",
        "status",
      ),
      eventMembers("missing", /^event:exec_command_end$/, "command", "cwd", "parsed_cmd"),
      changed("event:exec_command_begin", "params.msg.cwd", (a, b) => a === `file://${String(b)}`),
    ),
  },
  {
    key: "timeout-end",
    original: "A command that exceeds its time keeps running, and no end event is sent.",
    colloquy: "It is stopped, and the end event has the exit code 124.",
    why: "A process that nobody watches costs money and may do harm.",
    proofs: [only(version, "shell_timeout", "2")],
    explains: added("event:exec_command_end", "", (ours) => msgOf(ours)["exit_code"] === 124),
  },
  {
    key: "question-members",
    original:
      "The event of an approval request offers a rule that would allow such commands permanently, and lists the decisions.",
    colloquy: "It offers no such rule; the decisions are in the form of the request.",
    why: "A permanent rule should not be granted in passing.",
    proofs: [only(version, "on_request_escalated", "2")],
    explains: eventMembers(
      "missing",
      /^event:exec_approval_request$/,
      "kind",
      "environmentId",
      "proposed_execpolicy_amendment",
      "available_decisions",
      "started_at_ms",
      "turn_id",
    ),
  },
  {
    key: "crossed-answer",
    original:
      "After a cancelled call the response and the events of the next call have the id of the cancelled one.",
    colloquy:
      "Every response and every event has the id of its own request; the cancelled call gets no response.",
    why: "The caller waits for ever, and another caller takes the response for its own.",
    proofs: [only(version, "cancel_stream", "2", "5"), only(version, "cancel_shell", "2", "4")],
    explains: anyOf(
      (m) =>
        m.path === "" &&
        m.kind === (m.request === "2" ? "missing" : "added") &&
        /^event:(task_started|agent_message|token_count|task_complete)$/.test(m.label) &&
        !hasNoCount(m.original),
      missing("response", ""),
      added("response", "", (ours) => {
        const { id, result } = ours as {
          readonly id: unknown
          readonly result?: { isError?: true }
        }
        return id === 4 && result !== undefined && same(result.isError, undefined)
      }),
    ),
  },
]
