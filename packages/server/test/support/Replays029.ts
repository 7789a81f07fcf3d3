/** What the provider of each recording of 0.29 said, and how we differ in each. */
import * as ConfigTree from "@colloquy/core/settings/ConfigTree"
import { SettingsError, SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { DifferenceKey } from "./differences.ts"
import { defaultReply } from "./Harness.ts"
import * as Replaying from "./Replaying.ts"

type Use = Replaying.Use<DifferenceKey>
type Replay = Replaying.Replay<DifferenceKey>

const initialize: ReadonlyArray<Use> = ["server-identity", "event-capability", "more-capabilities"]
const toolsList: ReadonlyArray<Use> = [
  "newer-arguments",
  "reply-keys",
  "while-running",
  "closed-arguments",
  "open-config",
  "output-schema",
]
const events: ReadonlyArray<Use> = ["event-thread-id", "session-settings"]
const goodTurn: ReadonlyArray<Use> = [
  ...events,
  "token-totals",
  "structured-content",
  "thread-id-text",
]
const badTurn: ReadonlyArray<Use> = [...events, ["error-result", "2"], ["error-completes", "2"]]

const always =
  (reply: Script.ProviderReply): Script.ProviderScript =>
  () =>
    reply
const answers = (...texts: ReadonlyArray<string>) =>
  texts.map((text) => Script.reply(Script.text(text)))
const usual = always(defaultReply)
/** One tool call each with these ids, then this text. */
const calls = (last: string, ...callIds: ReadonlyArray<string>) => [
  ...callIds.map((callId) => Script.reply(Script.toolCall("shell", {}, callId))),
  Script.reply(Script.text(last)),
]
const question: ReadonlyArray<Use> = [
  ["elicitation-form", "0"],
  ["question-numbers", "0"],
  ["elicitation-thread-id", "0"],
  ["command-reason", "0"],
  ["question-text", "0", "2"],
]
const commandQuestion: ReadonlyArray<Use> = [...question, ["parsed-command", "0", "2"]]
const noModel: Script.ProviderScript = []

const replays: Readonly<Record<string, Replay>> = {
  handshake: {
    script: noModel,
    uses: [
      ...initialize,
      ...toolsList,
      ["bad-cursor", "4"],
      ["more-methods", "6", "7", "8", "9", "10", "11", "12", "13"],
      ["unknown-method", "14"],
      ["unknown-tool", "15"],
      ["bad-params", "16", "17"],
    ],
  },
  preinit: { script: usual, uses: [...initialize, ...toolsList, ...goodTurn] },
  double_init: { script: noModel, uses: initialize },
  malformed: {
    script: noModel,
    uses: [
      ...initialize,
      ["bad-message", "null", "86", "1.5"],
      ["byte-order-mark", "88"],
      ["arguments-shape", "84"],
    ],
  },
  simple: { script: answers("The answer is 42."), uses: [...initialize, ...goodTurn] },
  simple_string_id: {
    script: answers("string id answer"),
    uses: [...initialize, ...goodTurn, "progress"],
  },
  reply: {
    script: answers("first answer", "second answer", "third answer"),
    uses: [...initialize, ...toolsList, ...goodTurn],
  },
  reply_bad_uuid: { script: noModel, uses: [...initialize, ...toolsList] },
  reply_unknown: {
    script: noModel,
    uses: [...initialize, ...toolsList, ["structured-content", "3", "4"]],
  },
  deltas: {
    script: [
      Script.reply(
        ...["The ", "quick ", "brown ", "fox "].flatMap((piece) => [
          Script.bareDeltas(piece),
          Script.delay("15 millis"),
        ]),
        Script.bareDeltas("jumps."),
        Script.event({
          type: "response.output_item.done",
          item: {
            type: "message",
            role: "assistant",
            content: [{ type: "output_text", text: "The quick brown fox jumps." }],
          },
        }),
      ),
    ],
    uses: [...initialize, ...goodTurn],
  },
  reasoning: {
    script: [
      Script.reply(
        Script.reasoning(["**Thinking** ", "about ", "it"], ["Second ", "part"]),
        Script.text("Reasoned answer."),
      ),
    ],
    uses: [...initialize, ...goodTurn],
  },
  two_messages: {
    script: [Script.reply(Script.text("first message"), Script.text("second message"))],
    uses: [...initialize, ...goodTurn],
  },
  empty_answer: { script: [Script.reply()], uses: [...initialize, ...goodTurn] },
  bad_args: {
    script: usual,
    uses: [
      ...initialize,
      ...goodTurn,
      ["argument-fault", "2", "3", "4", "5", "12"],
      ["unknown-argument", "6", "13"],
    ],
  },
  model_500: {
    script: [Script.status(500), defaultReply],
    uses: [
      ...initialize,
      ...toolsList,
      ...badTurn,
      ["reply-after-error", "4"],
      ["structured-content", "4"],
      ["thread-id-text", "4"],
    ],
  },
  model_429: { script: [Script.tooManyRequests()], uses: [...initialize, ...badTurn] },
  model_drop: {
    script: [Script.reply(Script.bareDeltas("par", "tial"), Script.drop), defaultReply],
    uses: [
      ...initialize,
      ...toolsList,
      ...badTurn,
      ["reply-after-error", "4"],
      ["structured-content", "4"],
      ["thread-id-text", "4"],
    ],
  },
  two_concurrent: {
    script: Script.byLastUserText([
      ["QQ-A", Script.reply(Script.deltas("A1 ", "2 ", "3"))],
      ["QQ-B", Script.reply(Script.deltas("B1 ", "2 ", "3"))],
    ]),
    uses: [...initialize, ...goodTurn],
  },
  requests_during_turn: {
    script: Script.byLastUserText([
      ["hang", Script.reply(Script.bareDeltas("x"), Script.hang)],
      ["", defaultReply],
    ]),
    uses: [...initialize, ...toolsList, ...goodTurn, ["end-of-input", "2"]],
  },
}

/** Questions to a person; the tools are stand-ins. */
const questions: Readonly<Record<string, Replay>> = {
  approve: {
    script: calls("done", "call_00001l"),
    uses: [...initialize, ...goodTurn, ...commandQuestion],
  },
  deny: {
    script: calls("ok, not done", "call_00001t"),
    uses: [...initialize, ...goodTurn, ...commandQuestion],
  },
  abort: {
    script: [...calls("", "call_000021").slice(0, 1), defaultReply],
    uses: [
      ...initialize,
      ...toolsList,
      ...goodTurn,
      ...commandQuestion,
      ["abort-answered", "2"],
      ["stopped-tokens", "2"],
      ["events-of-next-call", "2", "4"],
    ],
  },
  approve_for_session: {
    script: [
      ...calls("done twice", "call_000026", "call_000029"),
      ...calls("done thrice", "call_00002e"),
    ],
    uses: [...initialize, ...toolsList, ...goodTurn, ...commandQuestion],
  },
  approve_malformed: {
    script: calls("after malformed", "call_00002j"),
    uses: [...initialize, ...goodTurn, ...commandQuestion],
  },
  approve_error: {
    script: calls("after error", "call_000038"),
    uses: [...initialize, ...events, ...commandQuestion, ["error-denies", "2"]],
  },
  approve_spec_accept: {
    script: calls("after accept", "call_00002o"),
    uses: [...initialize, ...goodTurn, ...commandQuestion, ["plain-accept", "2"]],
  },
  approve_no_elicitation_capability: {
    script: calls("done", "call_00003e"),
    uses: [...initialize, ...goodTurn, ["not-asked", "0", "2"]],
  },
  on_request_escalated: {
    script: calls("done", "call_000049"),
    uses: [...initialize, ...goodTurn, ...commandQuestion],
  },
}

/** What the tools of today tell of a command that ran out of time: what it had said, and the exit code of `timeout`. */
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

/** Commands, patches and plans that nobody is asked about, and ends of turns. */
const work: Readonly<Record<string, Replay>> = {
  bad_config: {
    script: noModel,
    settings: brokenConfig("this is = = not toml\n"),
    uses: [...initialize, ["config-fault", "2"]],
  },
  shell_ok: {
    script: calls("ran", "call_00008v"),
    uses: [...initialize, ...goodTurn, "output-encoding"],
  },
  shell_fail: {
    script: calls("it failed", "call_00009c"),
    uses: [...initialize, ...goodTurn, "output-encoding"],
  },
  shell_preamble: {
    script: [
      Script.reply(Script.text("I will run echo."), Script.toolCall("shell", {}, "call_000093")),
      Script.reply(Script.text("ran it")),
    ],
    uses: [...initialize, ...goodTurn, "output-encoding"],
  },
  shell_timeout: {
    script: calls("timed out", "call_0000a7"),
    tools: { amend: outOfTime },
    uses: [...initialize, ...goodTurn, "output-encoding", "timeout-output"],
  },
  trusted_command: {
    script: calls("read it", "call_00003o", "call_00003r", "call_00003u"),
    uses: [...initialize, ...goodTurn, "output-encoding"],
  },
  on_failure: {
    script: calls("done", "call_00003z"),
    tools: {
      amend: (msg) =>
        msg.type === "exec_command_end" && msg.exit_code === -1
          ? [{ ...msg, exit_code: 1 }]
          : [msg],
    },
    uses: [...initialize, ...goodTurn, ...commandQuestion, "output-encoding", "sandbox-exit-code"],
  },
  update_plan: {
    script: [
      Script.reply(Script.toolCall("update_plan", {}, "call_1")),
      Script.reply(Script.toolCall("other", {}, "call_2")),
      Script.reply(Script.text("planned")),
    ],
    uses: [...initialize, ...goodTurn],
  },
  patch_auto: {
    script: calls("patched", "call_00006y"),
    uses: [...initialize, ...goodTurn, "diff-once"],
  },
  patch_bad: {
    script: calls("gave up", "call_1", "call_2", "call_3"),
    uses: [...initialize, ...goodTurn],
  },
  patch_fn_approve: {
    script: calls("patched", "call_00004r"),
    uses: [...initialize, ...goodTurn, ...question, "diff-once"],
  },
  patch_fn_deny: {
    script: calls("not patched", "call_00004z"),
    uses: [...initialize, ...goodTurn, ...question],
  },
  patch_heredoc_approve: {
    script: calls("patched", "call_00005s"),
    uses: [...initialize, ...goodTurn, ...question, "diff-once"],
  },
  cancel_shell: {
    script: [...calls("", "call_0000c8").slice(0, 1), defaultReply],
    tools: { hangs: true },
    uses: [...initialize, ...toolsList, ...goodTurn, ["events-of-next-call", "2", "4"]],
  },
  cancel_stream: {
    script: [Script.reply(Script.bareDeltas("par", "tial"), Script.hang), defaultReply],
    uses: [...initialize, ...toolsList, ...goodTurn, ["events-of-next-call", "2", "5"]],
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
    uses: [...initialize, ...events, ["end-of-input", "2"], ["end-of-input-bound", "2"]],
  },
}

export const replays029 = { ...replays, ...questions, ...work }
