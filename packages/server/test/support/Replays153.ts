/** What the provider of each recording of 0.153.4 said, and how we differ in each. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Script from "@colloquy/testing/ProviderScript"
import type { Key153 } from "./Explain153.ts"
import { defaultReply, settingsWith } from "./Harness.ts"
import * as PathStore from "./PathStore.ts"
import type * as Replaying from "./Replaying.ts"
import { replays029 } from "./Replays029.ts"

type Use = Replaying.Use<Key153>
type Replay = Replaying.Replay<Key153>

const settings = (approval_policy: string, sandbox_mode: string) =>
  settingsWith({ approval_policy, sandbox_mode }, "/workspace")
const open = settings("never", "danger-full-access")
const workspaceWrite = settings("never", "workspace-write")

const initialize: ReadonlyArray<Use> = [
  "server-identity",
  "user-agent",
  "event-capability",
  "more-capabilities",
]
const toolsList: ReadonlyArray<Use> = [
  "older-arguments",
  "both-ids",
  "closed-arguments",
  "open-config",
  "while-running",
]
/** As far as the model begins to answer. */
const begun: ReadonlyArray<Use> = [
  "turn-ids",
  "turn-members",
  "item-events",
  "raw-events",
  "user-message",
  "startup-events",
  "session-members",
  "context-window",
]
const silent: ReadonlyArray<Use> = [...begun, "token-members", "both-ids", "thread-id-text"]
const turn: ReadonlyArray<Use> = [...silent, "delta-names", "text-members"]

const replay = (script: Script.ProviderScript, ...uses: ReadonlyArray<Use>): Replay => ({
  script,
  settings: open,
  store: PathStore.layer,
  uses: [...initialize, ...uses],
})

/** The same provider as for the recording of this name of 0.29. */
const as029 = (name: keyof typeof replays029, ...uses: ReadonlyArray<Use>): Replay =>
  replay(replays029[name]?.script ?? [], ...uses)

/** One tool call each with these ids, then this text. */
const calls = (last: string, ...callIds: ReadonlyArray<string>) => [
  ...callIds.map((callId) => Script.reply(Script.toolCall("exec_command", {}, callId))),
  Script.reply(Script.text(last)),
]

/** The process did not start: its `config.toml` sets a policy that it no longer knows. */
const notStarted: Replay = {
  script: [defaultReply, defaultReply],
  settings: settings("untrusted", "danger-full-access"),
  uses: ["untrusted-starts"],
}
const notStartedNames = [
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

/** A turn whose answer did not come; the next one has no counterpart in the original. */
const failed: ReadonlyArray<Use> = [...begun, "both-ids", "thread-id-text", "text-members"]
const command: ReadonlyArray<Use> = [...turn, "command-members"]

/** What the tools of today tell of the command that ran out of time; the original told nothing of its end. */
const outOfTime = (msg: EventMsg): ReadonlyArray<EventMsg> =>
  msg.type === "exec_command_begin"
    ? [
        msg,
        {
          type: "exec_command_end",
          call_id: msg.call_id,
          stdout: "start\n",
          stderr: "",
          exit_code: 124,
          duration: { secs: 0, nanos: 700_000_000 },
        },
      ]
    : [msg]

export const replays153: Readonly<Record<string, Replay>> = {
  handshake: as029(
    "handshake",
    ...toolsList,
    ["bad-cursor", "4"],
    ["more-methods", "6", "7", "8", "9", "10", "11", "12", "13"],
    ["method-text", "14"],
    ["unknown-tool", "15"],
    ["params-code", "16", "17"],
  ),
  preinit: as029("preinit", ...toolsList, ...turn),
  double_init: as029("double_init"),
  malformed: as029(
    "malformed",
    ["bad-message", "null", "86", "1.5"],
    ["lenient-version", "80", "81", "83"],
    ["params-code", "84"],
    ["byte-order-mark", "88"],
  ),
  simple: as029("simple", ...turn),
  simple_string_id: as029("simple_string_id", ...turn, "progress"),
  reply: as029("reply", ...toolsList, ...turn),
  reply_bad_uuid: as029("reply_bad_uuid", ...toolsList),
  reply_unknown: as029("reply_unknown", ...toolsList),
  deltas: as029("deltas", ...turn),
  reasoning: as029("reasoning", ...turn),
  two_messages: as029("two_messages", ...turn),
  empty_answer: as029("empty_answer", ...silent),
  bad_args: as029(
    "bad_args",
    ...turn,
    ["argument-fault", "2", "3", "4", "12"],
    ["older-arguments", "5", "6", "10"],
    ["unknown-argument", "13"],
    ["effort-checked", "14"],
  ),
  bad_config: {
    ...as029("bad_config", ["config-fault", "2"]),
    settings: replays029["bad_config"]?.settings ?? open,
  },
  model_500: as029(
    "model_500",
    ...toolsList,
    ...failed,
    ["error-completes", "2"],
    ["reply-after-error", "4"],
  ),
  model_429: as029("model_429", ...failed, ["error-completes", "2"]),
  model_drop: as029(
    "model_drop",
    ...toolsList,
    ...failed,
    "delta-names",
    ["error-completes", "2"],
    ["drop-text", "2"],
    ["empty-token-count", "2"],
    ["reply-after-error", "4"],
  ),
  two_concurrent: as029("two_concurrent", ...turn),
  requests_during_turn: as029("requests_during_turn", ...toolsList, ...turn, ["end-of-input", "2"]),
  cancel_stream: as029(
    "cancel_stream",
    ...toolsList,
    ...turn,
    ["empty-token-count", "2"],
    ["crossed-answer", "2", "5"],
  ),
  cancel_shell: {
    ...replay(
      [Script.reply(Script.toolCall("exec_command", {}, "call_00006g")), defaultReply],
      ...toolsList,
      ...begun,
      "delta-names",
      "command-members",
      ["crossed-answer", "2", "4"],
    ),
    tools: { hangs: true },
  },
  eof_during_turn: as029(
    "eof_during_turn",
    ...begun,
    "delta-names",
    ["end-of-input", "2"],
    ["end-of-input-bound", "2"],
  ),
  shell_ok: replay(calls("ran", "call_00003m"), ...command),
  shell_fail: replay(calls("it failed", "call_00003x"), ...command),
  shell_preamble: replay(
    [
      Script.reply(
        Script.text("I will run echo."),
        Script.toolCall("exec_command", {}, "call_00003r"),
      ),
      Script.reply(Script.text("ran it")),
    ],
    ...command,
  ),
  shell_timeout: {
    ...replay(calls("timed out", "call_00004x"), ...command, ["timeout-end", "2"]),
    tools: { amend: outOfTime },
  },
  update_plan: replay(calls("planned", "call_00003e", "call_00003h"), ...turn),
  patch_auto: { ...replay(calls("patched", "call_000024"), ...turn), settings: workspaceWrite },
  patch_bad: {
    ...replay(calls("gave up", "call_00002o", "call_00002r", "call_00002u"), ...turn),
    settings: workspaceWrite,
  },
  on_request_escalated: {
    ...replay(
      calls("done", "call_00001h"),
      ...command,
      "question-members",
      ["elicitation-form", "0"],
      ["question-numbers", "0"],
      ["command-reason", "0"],
      ["question-text", "0", "2"],
    ),
    settings: settings("on-request", "read-only"),
  },
  ...Object.fromEntries(notStartedNames.map((name) => [name, notStarted])),
}
