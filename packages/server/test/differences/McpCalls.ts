/** Differences of the arguments, events, results and errors of `codex` and `codex-reply`. */
import { event, type WireMessage } from "../support/Wire.ts"
import { type Difference, everywhere, only } from "./Difference.ts"
import {
  added,
  anyOf,
  changed,
  equals,
  isContent,
  isConversation,
  isThreadText,
  missing,
  resultText,
  same,
} from "./Explain.ts"
import { conversationTools } from "./McpHandshake.ts"

/** `structuredContent` by the output schema of the tools. */
const isOutput = (ours: unknown) => {
  const { threadId, conversationId, content, ...rest } = ours as Readonly<Record<string, unknown>>
  return (
    isConversation(threadId) &&
    threadId === conversationId &&
    typeof content === "string" &&
    Object.keys(rest).length === 0
  )
}

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

const sessionMembers: Readonly<Record<string, (ours: unknown) => boolean>> = {
  thread_id: (ours) => /^<conversation of .+>$/.test(String(ours)),
  model_provider_id: (ours) => ours === "mock_provider" || ours === "mock",
  rollout_path: (ours) =>
    /^\/state\/sessions\/rollout-<conversation of .+>\.jsonl$/.test(String(ours)),
  approval_policy: (ours) => ours === "on-request" || ours === "never",
  sandbox_policy: (ours) =>
    /^\{"mode":"(read-only|workspace-write|danger-full-access)"/.test(JSON.stringify(ours)),
  cwd: (ours) => /^\/(work|no\/such\/dir|work\/relative|workspace(\/link)?)$/.test(String(ours)),
}

const requestOf = (message: unknown): unknown => event(message as WireMessage)._meta?.["requestId"]

const isReplyOf = (id: number, text: string) => (message: unknown) => {
  const { id: of, result } = message as WireMessage
  return of === id && isContent(result?.["content"], text)
}

const defaultAnswer = "mock default answer"

export const mcpCalls: ReadonlyArray<Difference> = [
  {
    key: "progress",
    original: "A call with a progress token gets no `notifications/progress`.",
    colloquy: "The call gets `notifications/progress` at every item and every ten seconds.",
    why: "Clients time out calls that send nothing for a minute.",
    proofs: [only("0.29.0", "simple_string_id"), only("0.153.4", "simple_string_id")],
    explains: added("notifications/progress", "", (ours) =>
      same((ours as WireMessage).params?.["progressToken"], "tok-1"),
    ),
  },
  {
    key: "event-thread-id",
    original: "An event names only the request that caused it.",
    colloquy: "An event also names the conversation, in `_meta.threadId`.",
    why: "A client can tell conversations apart without a table of its requests.",
    proofs: [everywhere("0.29.0", "simple", "2")],
    explains: added(/^event:/, "params._meta.threadId", (ours) =>
      /^<conversation of .+>$/.test(String(ours)),
    ),
  },
  {
    key: "session-settings",
    original: "`session_configured` has the id and the model.",
    colloquy:
      "`session_configured` also has the provider, the approval policy, the sandbox policy, the working directory, `thread_id` and, unless no files are kept, `rollout_path`.",
    why: "A client can check which settings took effect.",
    proofs: [everywhere("0.29.0", "simple", "2")],
    explains: (m) =>
      m.kind === "added" &&
      m.label === "event:session_configured" &&
      (sessionMembers[m.path.replace("params.msg.", "")]?.(m.ours) ?? false),
  },
  {
    key: "token-totals",
    original: "`token_count` has the tokens of the last response.",
    colloquy:
      "`token_count` also has the `info` of later versions: the tokens of the whole conversation and the context window.",
    why: "Clients of earlier and of later versions both find the members that they read.",
    proofs: [everywhere("0.29.0", "simple", "2")],
    explains: anyOf(
      added("event:token_count", "params.msg.info", isInfo),
      added("event:token_count", "params.msg.rate_limits", equals(null)),
    ),
  },
  {
    key: "structured-content",
    original: "The result of a call is a text.",
    colloquy: "The result also has `structuredContent` with the text and the conversation id.",
    why: "A client needs the id for `codex-reply` and should not have to extract it from the events.",
    proofs: [everywhere("0.29.0", "simple", "2")],
    explains: added("response", "result.structuredContent", isOutput),
  },
  {
    key: "thread-id-text",
    original: "The content of a result is one text, without the conversation id.",
    colloquy:
      'A second text has the conversation id and says how to continue, unless `mcp_thread_id = "structured"`; the first text is the same.',
    why: "Many clients pass only the content to their model, which then could not call `codex-reply`.",
    proofs: [everywhere("0.29.0", "simple", "2"), everywhere("0.153.4", "simple", "2")],
    explains: added("response", "result.content.1", isThreadText),
  },
  {
    key: "unknown-tool",
    original: "A call of an unknown tool gets a result with `isError`.",
    colloquy: "The call gets the error -32602, which lists the known tools.",
    why: "The Model Context Protocol asks for an error.",
    proofs: [only("0.29.0", "handshake", "15"), only("0.153.4", "handshake", "15")],
    explains: anyOf(
      missing("response", "result"),
      added("response", "error", (ours) =>
        same(ours, {
          code: -32602,
          message: "Unknown tool 'no-such-tool'",
          data: { tools: ["codex", "codex-reply", ...conversationTools] },
        }),
      ),
    ),
  },
  {
    key: "unknown-argument",
    original: "Unknown and misspelt arguments are ignored, and the turn runs.",
    colloquy:
      "An unknown argument gets a result with `isError` that names it and the nearest known argument, and no turn runs.",
    why: "A turn with an ignored, misspelt `approval-policy` runs with the wrong policy.",
    proofs: [only("0.29.0", "bad_args", "6", "13")],
    explains: anyOf(
      missing(/^event:/, ""),
      changed("response", resultText, (_, ours) => String(ours).includes("unknown field `")),
      added("response", "result.isError", equals(true)),
    ),
  },
  {
    key: "argument-fault",
    original: "The error about a bad argument does not name the argument.",
    colloquy: "The same text is followed by the name of the argument and what was expected.",
    why: "A person or a model can correct the call at once.",
    proofs: [
      only("0.29.0", "bad_args", "2", "3", "4", "5", "12"),
      only("0.153.4", "bad_args", "2", "3", "4", "12"),
    ],
    explains: changed(
      "response",
      resultText,
      (original, ours) =>
        // 0.153.4 writes `number` where 0.29 wrote the number.
        String(ours)
          .replace("integer `42`", String(original).includes("number") ? "number" : "integer `42`")
          .startsWith(String(original)) && /`[a-z-]+`|expected/.test(String(ours)),
    ),
  },
  {
    key: "later-efforts",
    original: "`model_reasoning_effort` is `minimal`, `low`, `medium` or `high`.",
    colloquy: "`none` and `xhigh` are accepted as well, and the error of another value lists them.",
    why: "Configurations of later versions of the original have them.",
    proofs: [only("0.29.0", "bad_args", "14")],
    explains: changed(
      "response",
      resultText,
      (original, ours) =>
        String(ours).replace("`none`, ", "").replace(", `xhigh`", "") === original,
    ),
  },
  {
    key: "error-result",
    original: "A failed turn gets the result `{ error }`, which is not a tool result.",
    colloquy: "A failed turn gets a tool result with the same text and `isError`.",
    why: "Clients that validate results reject the original's and lose the conversation.",
    proofs: [
      only("0.29.0", "model_500", "2"),
      only("0.29.0", "model_429", "2"),
      only("0.29.0", "model_drop", "2"),
      only("0.29.0-commands", "refused", "2"),
    ],
    explains: anyOf(
      missing("response", "result.error"),
      added(
        "response",
        "result.content",
        (ours) => Array.isArray(ours) && ours.length === 2 && isThreadText(ours[1]),
      ),
      added("response", "result.isError", equals(true)),
    ),
  },
  {
    key: "error-completes",
    original: "After an `error` event the call gets no further event.",
    colloquy: "After an `error` event `task_complete` is sent, before the response.",
    why: "Every turn ends with one final event, so a client needs one rule only.",
    proofs: [
      ...["0.29.0", "0.153.4"].flatMap((version) =>
        ["model_500", "model_429", "model_drop"].map((name) =>
          only(version as "0.29.0", name, "2"),
        ),
      ),
      only("0.29.0-commands", "refused", "2"),
    ],
    explains: added("event:task_complete", "", (ours) =>
      same((ours as WireMessage).params?.["msg"], {
        type: "task_complete",
        last_agent_message: null,
      }),
    ),
  },
  {
    key: "reply-after-error",
    original:
      "`codex-reply` after a failed turn gets an empty result at once: the original takes the final event of the failed turn for that of the new one.",
    colloquy: "`codex-reply` after a failed turn runs a turn and gets its result.",
    why: "The message must not be lost.",
    proofs: ["0.29.0", "0.153.4"].flatMap((version) =>
      ["model_500", "model_drop"].map((name) => only(version as "0.29.0", name, "4")),
    ),
    explains: anyOf(
      added(
        /^event:(task_started|agent_message_delta|agent_message|token_count)$/,
        "",
        (ours) => (ours as WireMessage).params?.["id"] === "0",
      ),
      changed(
        "event:task_complete",
        "params.id",
        (original, ours) => original !== ours && original === "2" && ours === "0",
      ),
      // 0.153.4 puts the error of the failed turn into that event.
      missing(/^event:/, "params.msg.error"),
      changed(
        /^(response|event:task_complete)$/,
        /^(result\.structuredContent\.content|result\.content\.0\.text|params\.msg\.last_agent_message)$/,
        (original, ours) => (original === "" || original === null) && ours === defaultAnswer,
      ),
    ),
  },
  {
    key: "two-replies",
    original:
      "Of two calls of `codex-reply` for one conversation at the same time, one never gets a response.",
    colloquy: "Each call runs its own turn, one after the other, and gets its result.",
    why: "A client that gets no response waits for ever.",
    proofs: [only("0.29.0", "two_replies", "3", "4")],
    explains: anyOf(
      added("response", "", isReplyOf(4, "third answer")),
      added(
        /^event:(task_started|agent_message|token_count|task_complete)$/,
        "",
        (ours) => requestOf(ours) === 4,
      ),
      // The original names the other call in the events of the turn that it runs.
      missing(/^event:/, "", (original) => requestOf(original) === 4),
    ),
  },
  {
    key: "reply-last",
    original: "`codex-reply` without a conversation id gets an error.",
    colloquy:
      "It continues the conversation that a call of the same connection started or continued last.",
    why: "Many clients pass only the content to their model, which may not know the id.",
    proofs: [only("0.29.0", "reply_last", "3"), only("0.153.4", "reply_last", "3")],
    explains: anyOf(
      added(
        /^event:(task_started|agent_message|token_count|task_complete)$/,
        "",
        (ours) => requestOf(ours) === 3,
      ),
      changed(
        "response",
        resultText,
        (original, ours) =>
          /missing field `sessionId`$|either threadId or conversationId must be provided$/.test(
            String(original),
          ) && ours === "second answer",
      ),
      missing("response", "result.isError", equals(true)),
      // The error of 0.153.4 does not have it.
      added(
        "response",
        "result.structuredContent",
        (ours) =>
          isOutput(ours) && (ours as { readonly content: string }).content === "second answer",
      ),
    ),
  },
  {
    key: "config-fault",
    original: "The error about a `config.toml` that cannot be parsed quotes the line.",
    colloquy: "The error names the file, the line and the column and quotes nothing.",
    why: "The file may contain keys, and the error is sent to a model.",
    proofs: [only("0.29.0", "bad_config", "2"), only("0.153.4", "bad_config", "2")],
    explains: changed(
      "response",
      resultText,
      (original, ours) =>
        /TOML parse error at line 1, column 6|config\.toml:1:6: /.test(String(original)) &&
        /overrides: \/state\/config\.toml: .*line 1, column 6/.test(String(ours)),
    ),
  },
]
