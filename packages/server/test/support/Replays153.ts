/** The responses of the provider in each recording of 0.153.4. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Script from "@colloquy/testing/ProviderScript"
import { defaultReply, settingsWith } from "./Harness.ts"
import * as PathStore from "./PathStore.ts"
import type { Replay } from "./Replaying.ts"
import { replays029 } from "./Replays029.ts"

const settings = (approval_policy: string, sandbox_mode: string) =>
  settingsWith({ approval_policy, sandbox_mode }, "/workspace")
const open = settings("never", "danger-full-access")
const workspaceWrite = settings("never", "workspace-write")

const replay = (script: Script.ProviderScript): Replay => ({
  script,
  settings: open,
  store: PathStore.layer,
})

/** The same provider as for the recording of this name of 0.29. */
const as029 = (name: keyof typeof replays029): Replay => replay(replays029[name]?.script ?? [])

/** One tool call each with these ids, then this text. */
const calls = (last: string, ...callIds: ReadonlyArray<string>) => [
  ...callIds.map((callId) => Script.reply(Script.toolCall("exec_command", {}, callId))),
  Script.reply(Script.text(last)),
]

/** The process did not start: its `config.toml` sets a policy that it no longer knows. */
const notStarted: Replay = {
  script: [defaultReply, defaultReply],
  settings: settings("untrusted", "danger-full-access"),
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

/** The events of this server's tools for the command that timed out; the original sent no event of its end. */
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
  handshake: as029("handshake"),
  preinit: as029("preinit"),
  double_init: as029("double_init"),
  malformed: as029("malformed"),
  simple: as029("simple"),
  simple_string_id: as029("simple_string_id"),
  reply: as029("reply"),
  limits: as029("limits"),
  reply_last: as029("reply_last"),
  no_base_url: {
    ...as029("no_base_url"),
    settings: replays029["no_base_url"]?.settings ?? open,
  },
  reply_bad_uuid: as029("reply_bad_uuid"),
  reply_unknown: as029("reply_unknown"),
  deltas: as029("deltas"),
  reasoning: as029("reasoning"),
  two_messages: as029("two_messages"),
  empty_answer: as029("empty_answer"),
  bad_args: as029("bad_args"),
  bad_config: {
    ...as029("bad_config"),
    settings: replays029["bad_config"]?.settings ?? open,
  },
  model_500: as029("model_500"),
  model_429: as029("model_429"),
  model_drop: as029("model_drop"),
  two_concurrent: as029("two_concurrent"),
  requests_during_turn: as029("requests_during_turn"),
  cancel_stream: as029("cancel_stream"),
  cancel_shell: {
    ...replay([Script.reply(Script.toolCall("exec_command", {}, "call_00006g")), defaultReply]),
    tools: { hangs: true },
  },
  eof_during_turn: as029("eof_during_turn"),
  shell_ok: replay(calls("ran", "call_00003m")),
  shell_fail: replay(calls("it failed", "call_00003x")),
  shell_preamble: replay([
    Script.reply(
      Script.text("I will run echo."),
      Script.toolCall("exec_command", {}, "call_00003r"),
    ),
    Script.reply(Script.text("ran it")),
  ]),
  shell_timeout: {
    ...replay(calls("timed out", "call_00004x")),
    tools: { amend: outOfTime },
  },
  update_plan: replay(calls("planned", "call_00003e", "call_00003h")),
  patch_auto: { ...replay(calls("patched", "call_000024")), settings: workspaceWrite },
  patch_bad: {
    ...replay(calls("gave up", "call_00002o", "call_00002r", "call_00002u")),
    settings: workspaceWrite,
  },
  on_request_escalated: {
    ...replay(calls("done", "call_00001h")),
    settings: settings("on-request", "read-only"),
  },
  ...Object.fromEntries(notStartedNames.map((name) => [name, notStarted])),
}
