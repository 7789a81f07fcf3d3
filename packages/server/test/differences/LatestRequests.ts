/** Differences of requests, arguments and responses that only 0.153.4 shows. */
import type { WireMessage } from "../support/Wire.ts"
import { type Difference, everywhere, only } from "./Difference.ts"
import {
  added,
  anyOf,
  changed,
  equals,
  isConversation,
  isString,
  missing,
  resultText,
  same,
  typeOf,
} from "./Explain.ts"

const version = "0.153.4"

/** The process of these recordings exits at its start. */
const notStarted = [
  "abort",
  "approve",
  "approve_error",
  "approve_for_session",
  "approve_malformed",
  "approve_no_elicitation_capability",
  "approve_spec_accept",
  "deny",
  "patch_fn_approve",
  "patch_fn_deny",
  "patch_heredoc_approve",
  "trusted_command",
]

export const latestRequests: ReadonlyArray<Difference> = [
  {
    key: "user-agent",
    original:
      "`initialize` responds with `serverInfo.user_agent`, made of the client's name and the platform.",
    colloquy: "`initialize` responds without it.",
    why: "The client knows both.",
    proofs: [everywhere(version, "handshake", "1")],
    explains: missing("response", "result.serverInfo.user_agent", (value) =>
      String(value).startsWith("codex_cli_rs/"),
    ),
  },
  {
    key: "older-arguments",
    original: "Arguments, policies and names of ids of earlier versions are no longer accepted.",
    colloquy:
      "`include-plan-tool`, `profile`, `sessionId`, `untrusted` and `on-failure` are still accepted.",
    why: "One server serves the clients of every version.",
    proofs: [everywhere(version, "handshake", "3"), only(version, "bad_args", "5", "6", "10")],
    explains: anyOf(
      added(
        "response",
        /^result\.tools\.0\.inputSchema\.properties\.(include-plan-tool|profile)$/,
        (value) => typeOf(value) === "boolean" || isString(value),
      ),
      added("response", "result.tools.1.inputSchema.properties.sessionId", isString),
      changed("response", "result.tools.0.inputSchema.properties.approval-policy.enum", (a, b) =>
        same(
          [a, b],
          [
            ["on-request", "never"],
            ["untrusted", "on-failure", "on-request", "never"],
          ],
        ),
      ),
      changed("response", resultText, (a, b) =>
        String(a).includes("unknown variant `bogus`, expected `on-request` or `never`")
          ? String(b).includes("`untrusted`, `on-failure`, `on-request`, `never`")
          : String(a).includes("unknown field `profile`")
            ? String(b).endsWith("config profile `nope` not found")
            : String(a).includes("unknown field `nonsense`") &&
              String(b).includes("`include-plan-tool`, `model`, `profile`, `prompt`, `sandbox`"),
      ),
    ),
  },
  {
    key: "nearest-argument",
    original: "The error about an unknown argument lists the known ones.",
    colloquy: "It also names the nearest one.",
    why: "A person or a model can correct the call at once.",
    proofs: [only(version, "bad_args", "13")],
    explains: changed(
      "response",
      resultText,
      (original, ours) =>
        String(original).includes("unknown field `approval_policy`") &&
        String(ours).includes("unknown field `approval_policy`") &&
        String(ours).includes("did you mean `approval-policy`"),
    ),
  },
  {
    key: "untrusted-starts",
    original: 'With `approval_policy = "untrusted"` in config.toml the process exits at its start.',
    colloquy:
      "The setting works: every command gets an approval request, except for harmless ones.",
    why: "A configuration that was valid should not prevent the start.",
    proofs: notStarted.map((name) => only(version, name)),
    // Everything that a running server sends, and no error.
    explains: added(/^(response|event:(?!(error|agent_message_delta)$).*)$/, "", (ours) => {
      const { error } = ours as WireMessage
      return error === undefined
    }),
  },
  {
    key: "both-ids",
    original: "The structured result has the conversation id as `threadId`.",
    colloquy: "It has it as `threadId` and `conversationId`, as the output schema says.",
    why: "Clients of versions in between read the older name.",
    proofs: [everywhere(version, "simple", "2"), everywhere(version, "handshake", "3")],
    explains: anyOf(
      added("response", "result.structuredContent.conversationId", isConversation),
      added(
        "response",
        /^result\.tools\.[01]\.outputSchema\.properties\.conversationId$/,
        equals({ type: "string" }),
      ),
      added("response", /^result\.tools\.[01]\.outputSchema\.additionalProperties$/, equals(true)),
      changed("response", /^result\.tools\.[01]\.outputSchema\.required$/, (_, ours) =>
        same(ours, ["threadId", "conversationId", "content"]),
      ),
    ),
  },
  {
    key: "drop-text",
    original:
      "The error about an incomplete model response has two reasons, `Transport error:` and `network error:`.",
    colloquy: "It has the first one, as in earlier versions.",
    why: "Both mean the same.",
    proofs: [only(version, "model_drop", "2")],
    explains: changed(
      /^(response|event:error)$/,
      /^(result\.content\.0\.text|result\.structuredContent\.content|params\.msg\.message)$/,
      (a, b) => String(a).replace("network error: ", "") === b,
    ),
  },
  {
    key: "effort-checked",
    original: "An unknown `model_reasoning_effort` is sent to the model provider.",
    colloquy: "It gets a result with `isError` that lists the known values.",
    why: "The person who wrote it learns of it before a turn runs.",
    proofs: [only(version, "bad_args", "14")],
    explains: anyOf(
      missing(
        /^event:(session_configured|task_started|agent_message|token_count|task_complete)$/,
        "",
      ),
      missing("response", "result.structuredContent"),
      added("response", "result.isError", equals(true)),
      changed("response", resultText, (_, ours) =>
        String(ours).includes(
          "expected one of `none`, `minimal`, `low`, `medium`, `high`, `xhigh`",
        ),
      ),
    ),
  },
  {
    key: "params-code",
    original:
      "A known method whose parameters cannot be decoded gets the error -32601 (method not found).",
    colloquy:
      "It gets -32602 with each faulty member; arguments of a tool that are not an object get a result with `isError`.",
    why: "JSON-RPC and the Model Context Protocol ask for it.",
    proofs: [only(version, "handshake", "16", "17"), only(version, "malformed", "84")],
    explains: anyOf(
      changed("response", "error.code", (a, b) => same([a, b], [-32601, -32602])),
      changed(
        "response",
        "error.message",
        (a, b) => a === "method not found: tools/call" && String(b).startsWith("Invalid params: "),
      ),
      missing("response", "error.data.method", equals("tools/call")),
      added("response", "error.data.issues", Array.isArray),
      missing("response", "error", (value) => (value as { readonly code: number }).code === -32601),
      added(
        "response",
        "result",
        (value) => (value as { readonly isError?: unknown }).isError === true,
      ),
    ),
  },
  {
    key: "method-text",
    original: "The text of the error -32601 begins with a lower-case letter.",
    colloquy: "It begins with an upper-case letter, as in the specification.",
    why: "The code and `data.method` are the same.",
    proofs: [only(version, "handshake", "14")],
    explains: changed(
      "response",
      "error.message",
      (a, b) => String(a).startsWith("method not") && b === String(a).replace(/^m/, "M"),
    ),
  },
  {
    key: "lenient-version",
    original:
      "A request without `jsonrpc`, with a version other than 2.0 or with positional parameters is dropped without a response.",
    colloquy: "It gets a response, as in 0.29.",
    why: "A client that gets no response waits for ever.",
    proofs: [only(version, "malformed", "80", "81", "83")],
    explains: added("response", "", (ours) => same((ours as WireMessage).result, {})),
  },
]
