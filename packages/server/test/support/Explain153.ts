/** As `Explain`, for the recordings of 0.153.4. A difference that 0.29 shows too is explained there. */
import type { Difference } from "./Compare.ts"
import type { DifferenceKey, LaterDifferenceKey } from "./differences.ts"
import { explanations } from "./Explain.ts"
import { event, type WireMessage } from "./Wire.ts"

type Explanation = (difference: Difference) => boolean

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

const anyOf =
  (...all: ReadonlyArray<Explanation>): Explanation =>
  (d) =>
    all.some((one) => one(d))

const msgOf = (message: unknown): Readonly<Record<string, unknown>> =>
  event(message as WireMessage).msg

/** A whole message that only the original sent. */
const missing = (...labels: ReadonlyArray<string>): Explanation => {
  const known = new Set(labels)
  return (d) => d.kind === "missing" && d.path === "" && known.has(d.label)
}

/** A whole message that only we send. */
const added =
  (label: string, accept: (ours: WireMessage) => boolean = () => true): Explanation =>
  (d) =>
    d.kind === "added" && d.path === "" && d.label === label && accept(d.ours as WireMessage)

/** Members of an event's `msg` that the original has alone, or that we have alone. */
const members =
  (kind: "missing" | "added", label: RegExp, ...names: ReadonlyArray<string>): Explanation =>
  (d) =>
    d.kind === kind && label.test(d.label) && names.some((name) => d.path === `params.msg.${name}`)

const changed =
  (
    label: string | RegExp,
    path: string | RegExp,
    accept: (original: unknown, ours: unknown) => boolean,
  ): Explanation =>
  (d) =>
    d.kind === "changed" &&
    (typeof label === "string" ? d.label === label : label.test(d.label)) &&
    (typeof path === "string" ? d.path === path : path.test(d.path)) &&
    accept(d.original, d.ours)

const at =
  (
    kind: "missing" | "added",
    path: string | RegExp,
    accept: (value: unknown) => boolean,
  ): Explanation =>
  (d) =>
    d.kind === kind &&
    (typeof path === "string" ? d.path === path : path.test(d.path)) &&
    accept(kind === "missing" ? d.original : d.ours)

const text = "result.content.0.text"
const isUuid = (value: unknown) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(value))
const isTurnId = (value: unknown) => /^(\d+|req-abc)$/.test(String(value))
const typeOf = (schema: unknown) => (schema as { readonly type?: unknown }).type
const isConversation = (value: unknown) =>
  /^<conversation of .+>$|^[0-9a-f-]{36}$/.test(String(value))
const windowGuess = 258_400

const later: Readonly<Record<LaterDifferenceKey, Explanation>> = {
  "user-agent": at("missing", "result.serverInfo.user_agent", (value) =>
    String(value).startsWith("codex_cli_rs/"),
  ),
  "older-arguments": anyOf(
    at(
      "added",
      /^result\.tools\.0\.inputSchema\.properties\.(include-plan-tool|profile)$/,
      (value) => typeOf(value) === "boolean" || typeOf(value) === "string",
    ),
    at(
      "added",
      "result.tools.1.inputSchema.properties.sessionId",
      (value) => typeOf(value) === "string",
    ),
    changed("response", "result.tools.0.inputSchema.properties.approval-policy.enum", (a, b) =>
      same(
        [a, b],
        [
          ["on-request", "never"],
          ["untrusted", "on-failure", "on-request", "never"],
        ],
      ),
    ),
    changed("response", text, (a, b) =>
      String(a).includes("unknown variant `bogus`, expected `on-request` or `never`")
        ? String(b).includes("`untrusted`, `on-failure`, `on-request`, `never`")
        : String(a).includes("unknown field `profile`")
          ? String(b).endsWith("config profile `nope` not found")
          : String(a).includes("unknown field `nonsense`") &&
            String(b).includes("`include-plan-tool`, `model`, `profile`, `prompt`, `sandbox`"),
    ),
  ),
  // Everything that a server at work sends, and no error.
  "untrusted-starts": (d) =>
    d.kind === "added" &&
    d.path === "" &&
    (d.label === "response"
      ? (d.ours as WireMessage).result !== undefined
      : d.label.startsWith("event:") && d.label !== "event:error"),
  "both-ids": anyOf(
    at("added", "result.structuredContent.conversationId", isConversation),
    at("added", /^result\.tools\.[01]\.outputSchema\.properties\.conversationId$/, (value) =>
      same(value, { type: "string" }),
    ),
    at(
      "added",
      /^result\.tools\.[01]\.outputSchema\.additionalProperties$/,
      (value) => value === true,
    ),
    changed("response", /^result\.tools\.[01]\.outputSchema\.required$/, (_, ours) =>
      same(ours, ["threadId", "conversationId", "content"]),
    ),
  ),
  "turn-ids": anyOf(
    changed(/^event:/, "params.id", (a, b) => isUuid(a) && isTurnId(b)),
    changed("elicitation/create", "params.codex_event_id", (a, b) => isUuid(a) && isTurnId(b)),
  ),
  "turn-members": members(
    "missing",
    /^event:(task_started|task_complete|turn_aborted)$/,
    "turn_id",
    "started_at",
    "completed_at",
    "duration_ms",
    "time_to_first_token_ms",
    "collaboration_mode_kind",
  ),
  "item-events": missing("event:item_started", "event:item_completed"),
  "raw-events": missing("event:raw_response_item", "event:raw_response_completed"),
  "user-message": missing("event:user_message"),
  "startup-events": missing("event:mcp_startup_complete", "event:warning"),
  "delta-names": anyOf(
    missing(
      "event:agent_message_content_delta",
      "event:reasoning_content_delta",
      "event:reasoning_raw_content_delta",
    ),
    added("event:agent_message_delta"),
    added("event:agent_reasoning_delta"),
  ),
  "text-members": members(
    "missing",
    /^event:(agent_message|agent_reasoning_section_break|error)$/,
    "phase",
    "memory_citation",
    "item_id",
    "summary_index",
    "codex_error_info",
  ),
  "session-members": anyOf(
    members("missing", /^event:session_configured$/, "approvals_reviewer", "permission_profile"),
    members(
      "added",
      /^event:session_configured$/,
      "history_log_id",
      "history_entry_count",
      "sandbox_policy",
    ),
  ),
  "token-members": anyOf(
    members(
      "added",
      /^event:token_count$/,
      "input_tokens",
      "cached_input_tokens",
      "output_tokens",
      "reasoning_output_tokens",
      "total_tokens",
    ),
    members(
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
  "empty-token-count": (d) => missing("event:token_count")(d) && msgOf(d.original)["info"] === null,
  "context-window": changed(
    /^event:(task_started|token_count)$/,
    /^params\.msg\.(info\.)?model_context_window$/,
    (a, b) => a === windowGuess && b === null,
  ),
  "command-members": anyOf(
    members(
      "missing",
      /^event:exec_command_(begin|end)$/,
      "process_id",
      "source",
      "started_at_ms",
      "completed_at_ms",
      "turn_id",
      "status",
    ),
    members("missing", /^event:exec_command_end$/, "command", "cwd", "parsed_cmd"),
    changed("event:exec_command_begin", "params.msg.cwd", (a, b) => a === `file://${String(b)}`),
  ),
  "timeout-end": added("event:exec_command_end", (ours) => msgOf(ours)["exit_code"] === 124),
  "question-members": members(
    "missing",
    /^event:exec_approval_request$/,
    "kind",
    "environmentId",
    "proposed_execpolicy_amendment",
    "available_decisions",
    "started_at_ms",
    "turn_id",
  ),
  "drop-text": changed(
    /^(response|event:error)$/,
    /^(result\.content\.0\.text|result\.structuredContent\.content|params\.msg\.message)$/,
    (a, b) => String(a).replace("network error: ", "") === b,
  ),
  "effort-checked": anyOf(
    (d) => d.kind === "missing" && d.path === "" && d.label.startsWith("event:"),
    at("missing", "result.structuredContent", () => true),
    at("added", "result.isError", (value) => value === true),
    changed("response", text, (_, b) =>
      String(b).includes("expected one of `minimal`, `low`, `medium`, `high`"),
    ),
  ),
  "params-code": anyOf(
    changed("response", "error.code", (a, b) => same([a, b], [-32601, -32602])),
    changed(
      "response",
      "error.message",
      (a, b) => a === "method not found: tools/call" && String(b).startsWith("Invalid params: "),
    ),
    at("missing", "error.data.method", (value) => value === "tools/call"),
    at("added", "error.data.issues", Array.isArray),
    at("missing", "error", (value) => (value as { readonly code: number }).code === -32601),
    at("added", "result", (value) => (value as { readonly isError?: unknown }).isError === true),
  ),
  "method-text": changed(
    "response",
    "error.message",
    (a, b) => String(a).startsWith("method not") && b === String(a).replace(/^m/, "M"),
  ),
  "lenient-version": added("response", ({ result }) => same(result, {})),
  "crossed-answer": anyOf(
    (d) =>
      d.path === "" &&
      d.kind === (d.request === "2" ? "missing" : "added") &&
      /^event:(task_started|agent_message|token_count|task_complete)$/.test(d.label),
    missing("response"),
    added("response", ({ id, result }) => id === 4 && result?.["isError"] === undefined),
  ),
}

/** Those of 0.29 that 0.153.4 shows too. */
const shared = [
  "server-identity",
  "event-capability",
  "more-capabilities",
  "more-methods",
  "bad-cursor",
  "closed-arguments",
  "thread-id-text",
  "open-config",
  "unknown-tool",
  "unknown-method",
  "bad-message",
  "byte-order-mark",
  "argument-fault",
  "unknown-argument",
  "error-completes",
  "reply-after-error",
  "elicitation-form",
  "question-numbers",
  "command-reason",
  "question-text",
  "end-of-input",
  "end-of-input-bound",
  "config-fault",
  "while-running",
  "progress",
] as const satisfies ReadonlyArray<DifferenceKey>

export type Key153 = LaterDifferenceKey | (typeof shared)[number]

export const explanations153: Readonly<Record<Key153, Explanation>> = { ...explanations, ...later }
