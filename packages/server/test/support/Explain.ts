/** Tells which named difference a difference found by `Compare` is. As narrow as can be: values are checked. */
import * as Base64 from "effect/encoding/Base64"
import type { Difference } from "./Compare.ts"
import type { DifferenceKey } from "./differences.ts"
import type { WireMessage } from "./Wire.ts"

const conversationTools = [
  "conversationCreate",
  "conversationSendMessage",
  "conversationStream",
  "conversationsList",
  "conversationInterrupt",
  "conversationStatus",
  "conversationWait",
  "conversationFork",
  "conversationRemove",
]

type Explanation = (difference: Difference) => boolean

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

const added =
  (
    label: string | RegExp,
    path: string | RegExp,
    accept: (ours: unknown) => boolean,
  ): Explanation =>
  (d) =>
    d.kind === "added" &&
    (typeof label === "string" ? d.label === label : label.test(d.label)) &&
    (typeof path === "string" ? d.path === path : path.test(d.path)) &&
    accept(d.ours)

const changed =
  (label: string, path: string, accept: (original: unknown, ours: unknown) => boolean) =>
  (d: Difference) =>
    d.kind === "changed" && d.label === label && d.path === path && accept(d.original, d.ours)

const anyOf =
  (...all: ReadonlyArray<Explanation>): Explanation =>
  (d) =>
    all.some((one) => one(d))

const equals = (expected: unknown) => (ours: unknown) => same(ours, expected)

/** A whole response of ours that the original did not send: an error with one of these codes. */
const errorAdded = (...codes: ReadonlyArray<number>): Explanation =>
  added("response", "", (ours) => codes.includes((ours as WireMessage).error?.code ?? 0))

const text = "result.content.0.text"
const elicitation = "elicitation/create"

/** A whole event of that submission. */
const isOfCall = (id: string) => (message: unknown) =>
  (message as WireMessage).params?.["id"] === id

/** A whole event of the turn of a `codex-reply`, which the conversation numbers. */
const isOfReply = (message: unknown) => /^\d$/.test(String((message as WireMessage).params?.["id"]))

/** `structuredContent` of the tools' output schema, with the conversation of this request or of an earlier one. */
const isOutput = (ours: unknown) => {
  const { threadId, conversationId, content, ...rest } = ours as Readonly<Record<string, unknown>>
  return (
    typeof threadId === "string" &&
    /^<conversation of .+>$|^[0-9a-f-]{36}$/.test(threadId) &&
    threadId === conversationId &&
    typeof content === "string" &&
    Object.keys(rest).length === 0
  )
}

/** The second block of a result. */
const isThreadText = (ours: unknown) =>
  /^\{"type":"text","text":"threadId: (<conversation of .+>|[0-9a-f-]{36}) \(pass it to codex-reply to continue this conversation\)","annotations":\{"audience":\["assistant"\]\}\}$/.test(
    JSON.stringify(ours),
  )

/** A content of these two blocks: the text, and that of the thread. */
const isContent = (content: unknown, first: string) =>
  Array.isArray(content) &&
  content.length === 2 &&
  same(content[0], { type: "text", text: first }) &&
  isThreadText(content[1])

const usage = {
  input_tokens: 11,
  cached_input_tokens: 3,
  output_tokens: 7,
  reasoning_output_tokens: 2,
  total_tokens: 18,
}
const isInfo = (ours: unknown) => {
  const { total_token_usage: total, ...info } = ours as { readonly total_token_usage: typeof usage }
  const requests = total.total_tokens / usage.total_tokens
  return (
    same(info, { last_token_usage: usage, model_context_window: null }) &&
    Number.isInteger(requests) &&
    Object.entries(usage).every(([key, n]) => total[key as keyof typeof usage] === n * requests)
  )
}

/** Of a server without conversations and prompts: empty lists, the two templates, or `{}`. */
const isListOrNothing = (result: Readonly<Record<string, unknown>>) => {
  const [name, ...others] = Object.keys(result)
  if (name === undefined) return true
  const items = result[name]
  return (
    others.length === 0 &&
    Array.isArray(items) &&
    items.length === (name === "resourceTemplates" ? 2 : 0)
  )
}

const sessionMembers: Readonly<Record<string, (ours: unknown) => boolean>> = {
  thread_id: (ours) => /^<conversation of .+>$/.test(String(ours)),
  model_provider_id: equals("mock_provider"),
  approval_policy: equals("on-request"),
  sandbox_policy: equals({ mode: "read-only" }),
  cwd: (ours) => /^\/(work|no\/such\/dir|work\/relative)$/.test(String(ours)),
}

/** What the lines of a question say in the recordings, of a command and of a patch. */
const isReason = (ours: unknown): boolean =>
  /^If approved, (it runs without the sandbox: it can read and change every file|these files are changed) .*\nApproved for the session, .*(\nFiles \(1 update\):\n {2}update "\/workspace\/hello\.txt".*)?(\nIt is asked because: "(need to write|command failed; retry without sandbox\?)")?$/.test(
    String(ours),
  )

export const explanations: Readonly<Record<DifferenceKey, Explanation>> = {
  "server-identity": anyOf(
    changed("response", "result.serverInfo.name", (_, ours) => ours === "colloquy"),
    changed("response", "result.serverInfo.title", (_, ours) => ours === "Colloquy"),
    changed("response", "result.serverInfo.version", (_, ours) => ours === "1.2.3"),
  ),
  "event-capability": added(
    "response",
    "result.capabilities.experimental",
    equals({ "codex/event": {} }),
  ),
  "more-capabilities": anyOf(
    added(
      "response",
      "result.capabilities.resources",
      equals({ subscribe: true, listChanged: true }),
    ),
    added("response", "result.capabilities.prompts", equals({ listChanged: true })),
    added("response", /^result\.capabilities\.(completions|logging)$/, equals({})),
  ),
  "more-methods": added("response", "", (ours) => {
    const { error, result } = ours as WireMessage
    return result === undefined
      ? [-32002, -32602].includes(error?.code ?? 0)
      : isListOrNothing(result)
  }),
  "bad-cursor": anyOf(
    (d) => d.label === "response" && d.kind === "missing" && d.path === "result",
    added("response", "error", (ours) => {
      const { code, message } = ours as NonNullable<WireMessage["error"]>
      return code === -32602 && message.includes("params.cursor")
    }),
  ),
  "newer-arguments": added(
    "response",
    /^result\.tools\.0\.inputSchema\.properties\.(developer-instructions|compact-prompt)$/,
    (ours) => (ours as { readonly type: string }).type === "string",
  ),
  "reply-keys": anyOf(
    added(
      "response",
      /^result\.tools\.1\.inputSchema\.properties\.(threadId|conversationId)$/,
      (ours) => (ours as { readonly type: string }).type === "string",
    ),
    changed("response", "result.tools.1.inputSchema.required", (original, ours) =>
      same([original, ours], [["prompt", "sessionId"], ["prompt"]]),
    ),
  ),
  "while-running": added(
    "response",
    "result.tools.1.inputSchema.properties.while-running",
    (ours) => (ours as { readonly type: string }).type === "string",
  ),
  progress: added("notifications/progress", "", (ours) =>
    same((ours as WireMessage).params?.["progressToken"], "tok-1"),
  ),
  "closed-arguments": added(
    "response",
    /^result\.tools\.[01]\.inputSchema\.additionalProperties$/,
    equals(false),
  ),
  "open-config": (d) =>
    d.kind === "missing" &&
    d.path === "result.tools.0.inputSchema.properties.config.additionalProperties" &&
    d.original === true,
  "output-schema": added("response", /^result\.tools\.[01]\.outputSchema$/, (ours) =>
    same(Object.keys((ours as { readonly properties: object }).properties), [
      "threadId",
      "conversationId",
      "content",
    ]),
  ),
  "event-thread-id": (d) =>
    d.kind === "added" &&
    d.label.startsWith("event:") &&
    d.path === "params._meta.threadId" &&
    /^<conversation of .+>$/.test(String(d.ours)),
  "session-settings": (d) =>
    d.kind === "added" &&
    d.label === "event:session_configured" &&
    (sessionMembers[d.path.replace("params.msg.", "")]?.(d.ours) ?? false),
  "token-totals": anyOf(
    added("event:token_count", "params.msg.info", isInfo),
    added("event:token_count", "params.msg.rate_limits", equals(null)),
  ),
  "structured-content": added("response", "result.structuredContent", isOutput),
  "thread-id-text": added("response", "result.content.1", isThreadText),
  "unknown-tool": anyOf(
    (d) => d.label === "response" && d.kind === "missing" && d.path === "result",
    added("response", "error", (ours) =>
      same(ours, {
        code: -32602,
        message: "Unknown tool 'no-such-tool'",
        data: { tools: ["codex", "codex-reply", ...conversationTools] },
      }),
    ),
  ),
  "unknown-method": errorAdded(-32601),
  "bad-params": errorAdded(-32602),
  "bad-message": errorAdded(-32700, -32600),
  "byte-order-mark": added("response", "", equals({ jsonrpc: "2.0", id: 88, result: {} })),
  "unknown-argument": anyOf(
    (d) => d.kind === "missing" && d.path === "" && d.label.startsWith("event:"),
    changed("response", text, (_, ours) => String(ours).includes("unknown field `")),
    added("response", "result.isError", equals(true)),
  ),
  "argument-fault": changed(
    "response",
    text,
    (original, ours) =>
      // 0.153.4 says `number` where 0.29 said which.
      String(ours)
        .replace("integer `42`", String(original).includes("number") ? "number" : "integer `42`")
        .startsWith(String(original)) && /`[a-z-]+`|expected/.test(String(ours)),
  ),
  "arguments-shape": changed(
    "response",
    text,
    (original, ours) =>
      String(original).endsWith(", expected struct CodexToolCallParam") &&
      ours ===
        String(original).replace("struct CodexToolCallParam", "a map of arguments for `codex`"),
  ),
  "error-result": anyOf(
    (d) => d.label === "response" && d.kind === "missing" && d.path === "result.error",
    added(
      "response",
      "result.content",
      (ours) => Array.isArray(ours) && ours.length === 2 && isThreadText(ours[1]),
    ),
    added("response", "result.isError", equals(true)),
    added("response", "result.structuredContent", isOutput),
  ),
  "error-completes": added("event:task_complete", "", (ours) =>
    same((ours as WireMessage).params?.["msg"], {
      type: "task_complete",
      last_agent_message: null,
    }),
  ),
  "reply-after-error": anyOf(
    (d) =>
      d.kind === "added" &&
      d.path === "" &&
      /^event:(task_started|agent_message_delta|agent_message|token_count)$/.test(d.label) &&
      (d.ours as WireMessage).params?.["id"] === "0",
    changed("event:task_complete", "params.id", (_, ours) => ours === "0"),
    // 0.153.4 says in the next turn what went wrong in the one before.
    (d) => d.kind === "missing" && d.path === "params.msg.error",
    changed(
      "response",
      "result.structuredContent.content",
      (original, ours) => original === "" && ours === "mock default answer",
    ),
    changed(
      "event:task_complete",
      "params.msg.last_agent_message",
      (original, ours) => original === null && ours === "mock default answer",
    ),
    changed(
      "response",
      text,
      (original, ours) => original === "" && ours === "mock default answer",
    ),
  ),
  "elicitation-form": anyOf(
    added(elicitation, "params.requestedSchema.properties.decision", (ours) =>
      same((ours as { readonly enum: unknown }).enum, [
        "approved",
        "approved_for_session",
        "denied",
        "abort",
      ]),
    ),
    added(elicitation, "params.requestedSchema.required", equals(["decision"])),
  ),
  "question-numbers": changed(elicitation, "id", (original, ours) =>
    same([original, ours], [0, 1]),
  ),
  "elicitation-thread-id": added(
    elicitation,
    "params.threadId",
    (ours) => ours === "<conversation of 2>",
  ),
  "command-reason": added(elicitation, "params.codex_reason", isReason),
  "question-text": anyOf(
    changed(
      elicitation,
      "params.message",
      (original, ours) =>
        String(ours).startsWith(`${String(original)}\n`) &&
        isReason(String(ours).slice(String(original).length + 1)),
    ),
    (d) =>
      /^event:(exec|apply_patch)_approval_request$/.test(d.label) &&
      d.path === "params.msg.reason" &&
      d.kind !== "missing" &&
      isReason(d.ours),
  ),
  "parsed-command": anyOf(
    added(
      elicitation,
      "params.codex_parsed_cmd",
      equals([{ type: "unknown", cmd: "touch made.txt" }]),
    ),
    added(
      "event:exec_approval_request",
      "params.msg.parsed_cmd",
      equals([{ type: "unknown", cmd: "touch made.txt" }]),
    ),
  ),
  "plain-accept": added(/^event:exec_command_(begin|end)$/, "", isOfCall("2")),
  "error-denies": anyOf(
    added(
      /^event:(agent_message_delta|agent_message|token_count|task_complete)$/,
      "",
      isOfCall("2"),
    ),
    added("response", "", (ours) =>
      isContent((ours as WireMessage).result?.["content"], "after error"),
    ),
  ),
  "not-asked": anyOf(
    (d) =>
      d.kind === "missing" &&
      d.path === "" &&
      /^elicitation\/create$|^event:exec_(approval_request|command_begin|command_end)$/.test(
        d.label,
      ),
    added(
      "response",
      "result._meta",
      equals({ "colloquy/unattended": [{ call_id: "call_00003e", decision: "denied" }] }),
    ),
  ),
  "abort-answered": added("response", "", (ours) => {
    const { content, isError } = (ours as WireMessage).result ?? {}
    return isError === true && isContent(content, "Turn interrupted")
  }),
  "stopped-tokens": added("event:token_count", "", isOfCall("2")),
  "events-of-next-call": (d) =>
    d.path === "" &&
    /^event:(task_started|agent_message_delta|agent_message)$/.test(d.label) &&
    (d.kind === "missing"
      ? d.request === "2" && isOfReply(d.original)
      : (d.request === "4" || d.request === "5") && isOfReply(d.ours)),
  "end-of-input": anyOf(
    added("event:turn_aborted", "", (ours) =>
      same((ours as WireMessage).params?.["msg"], { type: "turn_aborted", reason: "interrupted" }),
    ),
    errorAdded(-32000),
  ),
  "end-of-input-bound": anyOf(
    (d) =>
      d.kind === "missing" &&
      /^event:(agent_message_delta|agent_message|token_count|task_complete)$/.test(d.label),
    (d) => d.kind === "missing" && d.label === "response" && d.path === "result",
    added("response", "error", (ours) => (ours as { readonly code: number }).code === -32000),
  ),
  "output-encoding": changed(
    "event:exec_command_output_delta",
    "params.msg.chunk",
    (original, ours) =>
      Array.isArray(original) &&
      ours === Base64.encode(Uint8Array.from(original.filter(Number.isInteger))),
  ),
  "timeout-output": (d) =>
    d.kind === "changed" &&
    d.label === "event:exec_command_end" &&
    /^params\.msg\.(stdout|stderr|aggregated_output|exit_code|formatted_output)$/.test(d.path),
  "sandbox-exit-code": changed("event:exec_command_end", "params.msg.exit_code", (original, ours) =>
    same([original, ours], [-1, 1]),
  ),
  "diff-once": (d) => d.kind === "missing" && d.path === "" && d.label === "event:turn_diff",
  "config-fault": changed(
    "response",
    text,
    (original, ours) =>
      /TOML parse error at line 1, column 6|config\.toml:1:6: /.test(String(original)) &&
      /overrides: \/state\/config\.toml: .*line 1, column 6/.test(String(ours)),
  ),
}
