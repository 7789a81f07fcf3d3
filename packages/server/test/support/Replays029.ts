/** The responses of the provider in each recording of 0.29. */
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { SettingsError, SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { defaultReply, settingsWith } from "./Harness.ts"
import type { Replay } from "./Replaying.ts"

const always =
  (reply: Script.ProviderReply): Script.ProviderScript =>
  () =>
    reply
const answers = (...texts: ReadonlyArray<string>) =>
  texts.map((text) => Script.reply(Script.text(text)))
const usual = always(defaultReply)
/** A finished message without deltas. */
const wholeText = (text: string) =>
  Script.event({
    type: "response.output_item.done",
    item: { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
  })
/** One tool call each with these ids, then this text. */
const calls = (last: string, ...callIds: ReadonlyArray<string>) => [
  ...callIds.map((callId) => Script.reply(Script.toolCall("shell", {}, callId))),
  Script.reply(Script.text(last)),
]
const noModel: Script.ProviderScript = []

const replays: Readonly<Record<string, Replay>> = {
  handshake: {
    script: noModel,
  },
  preinit: { script: usual },
  double_init: { script: noModel },
  malformed: {
    script: noModel,
  },
  simple: { script: answers("The answer is 42.") },
  simple_string_id: {
    script: answers("string id answer"),
  },
  reply: {
    script: answers("first answer", "second answer", "third answer"),
  },
  two_replies: {
    script: ["first answer", "second answer", "third answer"].map((text) =>
      Script.reply(wholeText(text)),
    ),
  },
  limits: { script: noModel },
  reply_last: {
    script: ["first answer", "second answer"].map((text) => Script.reply(wholeText(text))),
  },
  no_base_url: { script: noModel, settings: settingsWith({}, "/work", {}) },
  misspelt_base_url: {
    script: noModel,
    settings: settingsWith({}, "/work", { base_ulr: "http://provider.test/v1" }),
  },
  reply_bad_uuid: { script: noModel },
  reply_unknown: {
    script: noModel,
  },
  deltas: {
    script: [
      Script.reply(
        ...["The ", "quick ", "brown ", "fox "].flatMap((piece) => [
          Script.bareDeltas(piece),
          Script.delay("15 millis"),
        ]),
        Script.bareDeltas("jumps."),
        wholeText("The quick brown fox jumps."),
      ),
    ],
  },
  reasoning: {
    script: [
      Script.reply(
        Script.reasoning(["**Thinking** ", "about ", "it"], ["Second ", "part"]),
        Script.text("Reasoned answer."),
      ),
    ],
  },
  two_messages: {
    script: [Script.reply(Script.text("first message"), Script.text("second message"))],
  },
  empty_answer: { script: [Script.reply()] },
  bad_args: {
    script: usual,
  },
  model_500: {
    script: [Script.status(500), defaultReply],
  },
  model_429: { script: [Script.tooManyRequests()] },
  model_drop: {
    script: [Script.reply(Script.bareDeltas("par", "tial"), Script.drop), defaultReply],
  },
  two_concurrent: {
    script: Script.byLastUserText([
      ["QQ-A", Script.reply(Script.deltas("A1 ", "2 ", "3"))],
      ["QQ-B", Script.reply(Script.deltas("B1 ", "2 ", "3"))],
    ]),
  },
  requests_during_turn: {
    script: Script.byLastUserText([
      ["hang", Script.reply(Script.bareDeltas("x"), Script.hang)],
      ["", defaultReply],
    ]),
  },
}

/** Questions to a person; the tools are stand-ins. */
const questions: Readonly<Record<string, Replay>> = {
  approve: {
    script: calls("done", "call_00001l"),
  },
  deny: {
    script: calls("ok, not done", "call_00001t"),
  },
  abort: {
    script: [...calls("", "call_000021").slice(0, 1), defaultReply],
  },
  approve_for_session: {
    script: [
      ...calls("done twice", "call_000026", "call_000029"),
      ...calls("done thrice", "call_00002e"),
    ],
  },
  approve_malformed: {
    script: calls("after malformed", "call_00002j"),
  },
  approve_error: {
    script: calls("after error", "call_000038"),
  },
  approve_spec_accept: {
    script: calls("after accept", "call_00002o"),
  },
  approve_no_elicitation_capability: {
    script: calls("done", "call_00003e"),
  },
  on_request_escalated: {
    script: calls("done", "call_000049"),
  },
}

/** The events of this server's tools for a command that timed out: its output so far, and the exit code of `timeout`. */
const outOfTime = (msg: EventMsg): ReadonlyArray<EventMsg> =>
  msg.type === "exec_command_end"
    ? [
        {
          ...msg,
          stdout: "start\n",
          stderr: "",
          aggregated_output: "start\n",
          exit_code: 124,
          formatted_output: "command timed out after 700 milliseconds\nstart\n",
        },
      ]
    : [msg]

/** A directory whose `config.toml` holds this. */
const brokenConfig = (toml: string) =>
  Layer.succeed(SettingsResolver, {
    resolve: () =>
      Result.match(ConfigTree.parseToml(toml), {
        onFailure: (problem) =>
          Effect.fail(new SettingsError({ message: `/state/config.toml: ${problem}` })),
        onSuccess: () => Effect.die("it can be read"),
      }),
  })

/** Commands, patches and plans without a question, and ends of turns. */
const work: Readonly<Record<string, Replay>> = {
  bad_config: {
    script: noModel,
    settings: brokenConfig("this is = = not toml\n"),
  },
  shell_ok: {
    script: calls("ran", "call_00008v"),
  },
  shell_fail: {
    script: calls("it failed", "call_00009c"),
  },
  shell_preamble: {
    script: [
      Script.reply(Script.text("I will run echo."), Script.toolCall("shell", {}, "call_000093")),
      Script.reply(Script.text("ran it")),
    ],
  },
  shell_timeout: {
    script: calls("timed out", "call_0000a7"),
    tools: { amend: outOfTime },
  },
  trusted_command: {
    script: calls("read it", "call_00003o", "call_00003r", "call_00003u"),
  },
  on_failure: {
    script: calls("done", "call_00003z"),
    tools: {
      amend: (msg) =>
        msg.type === "exec_command_end" && msg.exit_code === -1
          ? [{ ...msg, exit_code: 1 }]
          : [msg],
    },
  },
  update_plan: {
    script: [
      Script.reply(Script.toolCall("update_plan", {}, "call_1")),
      Script.reply(Script.toolCall("other", {}, "call_2")),
      Script.reply(Script.text("planned")),
    ],
  },
  patch_auto: {
    script: calls("patched", "call_00006y"),
  },
  patch_bad: {
    script: calls("gave up", "call_1", "call_2", "call_3"),
  },
  patch_fn_approve: {
    script: calls("patched", "call_00004r"),
  },
  patch_fn_deny: {
    script: calls("not patched", "call_00004z"),
  },
  patch_heredoc_approve: {
    script: calls("patched", "call_00005s"),
  },
  cancel_shell: {
    script: [...calls("", "call_0000c8").slice(0, 1), defaultReply],
    tools: { hangs: true },
  },
  cancel_stream: {
    script: [Script.reply(Script.bareDeltas("par", "tial"), Script.hang), defaultReply],
  },
  eof_during_turn: {
    script: [
      Script.reply(
        ...["a ", "b ", "c ", "d"].flatMap((piece) => [
          Script.bareDeltas(piece),
          Script.delay("250 millis"),
        ]),
        Script.delay("500 millis"),
        Script.text("a b c d"),
      ),
    ],
  },
}

export const replays029 = { ...replays, ...questions, ...work }
