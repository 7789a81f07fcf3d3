/** Differences of the turns of app-server v2: their items, their ends and the usage that they report. */
import { at } from "../support/ThreadNames.ts"
import { type Difference, everywhere, only } from "./Difference.ts"
import { anyOf, missing } from "./Explain.ts"
import { from, inPath, member, moved, placed, succeeds, version, whole } from "./ThreadExplain.ts"

const totals = inPath(
  /^thread\/tokenUsage\/updated$/,
  /^params\.tokenUsage\.total\.\w+$/,
  (m) => m.kind === "changed",
)

const isAgentMessage = (value: unknown): boolean => at(value, "type") === "agentMessage"

export const threadTurns: ReadonlyArray<Difference> = [
  {
    key: "v2-partial-text",
    original:
      "The item of a message that an interrupt, an error or the end of input cuts off never completes, and its text is lost.",
    colloquy:
      "It completes with the text so far, which is stored, sent to the model with the next request, and part of `turn/completed`.",
    why: "Every started item completes, and nothing is lost that a person has read.",
    proofs: [
      everywhere(version, "app_interrupt"),
      everywhere(version, "app_model_drop"),
      everywhere(version, "app_eof_then_resume"),
    ],
    explains: anyOf(
      whole("added", /^item\/completed agentMessage$/),
      inPath(
        /^(?:turn\/completed|response to thread\/(?:read|resume|turns\/list))$/,
        /\.items\.\d+$/,
        (m) => m.kind === "added" && isAgentMessage(m.ours),
      ),
      inPath(/^turn\/completed$/, /^params\.turn\.itemsView$/, from("notLoaded", "summary")),
    ),
  },
  {
    key: "v2-last-events",
    original:
      "A turn that runs at the end of input has no end, and one that ends after SIGTERM neither.",
    colloquy: "The client is sent its end.",
    why: "A client that reads to the end sees a complete turn.",
    proofs: [
      only(version, "app_eof_during_turn"),
      only(version, "app_eof_then_resume", "thread of 2"),
      only(version, "app_ws_sigterm"),
    ],
    explains: whole(
      "added",
      /^(?:thread\/status\/changed idle|turn\/completed)/,
      (m) =>
        m.label.startsWith("thread/") ||
        ["interrupted", "completed"].includes(String(member(m, "params", "turn", "status"))),
    ),
  },
  {
    key: "v2-interrupt-at-once",
    original:
      "`turn/interrupt` just behind the response to `turn/start` is refused, and the turn goes on.",
    colloquy: "The turn ends.",
    why: "The client knows the turn from the response on.",
    proofs: [
      only(version, "app_interrupt_race", "4", "6", "thread of 2"),
      only(version, "app_interrupt_cases", "4", "5", "thread of 2"),
    ],
    explains: anyOf(
      succeeds("turn/interrupt"),
      placed("turn/interrupt"),
      whole("missing", /^(?:item\/(?:started|completed) agentMessage|item\/agentMessage\/delta)$/),
      whole("missing", /^thread\/tokenUsage\/updated$/),
      inPath(/^turn\/completed$/, /^params\.turn\.(?:items|itemsView|status)$/),
      totals,
    ),
  },
  {
    key: "v2-withdrawn-question",
    original:
      "An interrupt resolves a pending request after the end of its turn, and its item never completes.",
    colloquy: "The request is resolved and the item completes before the turn ends.",
    why: "Nothing of a turn follows its end.",
    proofs: [only(version, "app_interrupt_cases", "thread of 2")],
    explains: anyOf(
      moved(/^serverRequest\/resolved$/),
      whole("added", /^(?:thread\/status\/changed active|item\/completed commandExecution)$/),
      moved(/^thread\/tokenUsage\/updated$/),
    ),
  },
  {
    key: "v2-user-message-first",
    original: "The item of the user's message can follow an interrupt, or be missing.",
    colloquy: "It follows `turn/started` at once.",
    why: "The message is stored before the response.",
    proofs: [
      only(version, "app_interrupt_race", "thread of 2"),
      only(version, "app_queue", "thread of 2"),
    ],
    explains: moved(/^item\/(?:started|completed) userMessage$/),
  },
  {
    key: "v2-steer",
    original: "Further input breaks off the response of the model, and its text is dropped.",
    colloquy: "The response is sent to its end, and the input is part of the next request.",
    why: "What a person has read is not taken back, and no usage is lost.",
    proofs: [
      only(version, "app_steer", "thread of 2"),
      only(version, "app_turn_while_running", "thread of 2"),
      only(version, "app_steer_drops_partial", "5", "thread of 2"),
    ],
    explains: anyOf(
      whole("added", /^thread\/tokenUsage\/updated$/),
      totals,
      inPath(/^response to thread\/read$/, /^result\.thread\.turns\.0\.items\.2\.(?:id|text)$/),
    ),
  },
  {
    key: "v2-repeated-usage",
    original:
      "`thread/tokenUsage/updated` is repeated when a turn is interrupted, a compaction ends, or a thread is resumed whose turn has reported nothing yet.",
    colloquy: "It is sent when there is a new count, and once after a resume.",
    why: "It has no information.",
    proofs: [
      only(version, "app_fork_variants", "thread of 2"),
      only(version, "app_read_turns", "thread of 2"),
      only(version, "app_compact", "thread of 2"),
      only(version, "app_ephemeral", "thread of 2"),
      only(version, "app_ws_two_clients", "A thread of A 2", "B thread of A 2"),
      only(version, "app_ws_late_joiner_pending_approval", "B thread of A 2"),
    ],
    explains: whole("missing", /^thread\/tokenUsage\/updated$/),
  },
  {
    key: "v2-compaction-item",
    original:
      "The item of a compaction starts before the request for the summary, whose usage counts to the total only afterwards; after a failure it never completes.",
    colloquy: "It starts and completes when the summary is there.",
    why: "A compaction that fails has no item that stays open.",
    proofs: [
      only(version, "app_compact", "thread of 2"),
      only(version, "app_ephemeral", "thread of 2"),
    ],
    explains: anyOf(
      moved(/^(?:item\/started contextCompaction|thread\/readState\/changed)$/),
      totals,
    ),
  },
  {
    key: "v2-turn-behind-compaction",
    original: "`turn/start` during a compaction is an error.",
    colloquy: "The turn runs after the compaction.",
    why: "A person who writes on does not lose the text.",
    proofs: [only(version, "app_compact", "8", "11", "12", "thread of 2")],
    explains: anyOf(
      succeeds("turn/start"),
      whole("added", /^(?:thread\/status\/changed|turn\/(?:started|completed)|item\/)/, (m) =>
        ["<turn of 8>", undefined].includes(
          (member(m, "params", "turnId") ?? member(m, "params", "turn", "id")) as
            | string
            | undefined,
        ),
      ),
      whole("added", /^thread\/tokenUsage\/updated$/),
      inPath(/^response to thread\/turns\/list$/, /^result\.data\.\d+/),
      inPath(/^response to thread\/read$/, /^result\.thread\.turns\.[34]/),
      totals,
    ),
  },
  {
    key: "v2-error-texts",
    original: "The texts of provider errors have addresses of OpenAI, or the URL of the request.",
    colloquy: "They say the same in other words, with the same `codexErrorInfo`.",
    why: "The provider can be any, and a URL can contain a key.",
    proofs: [everywhere(version, "app_model_500"), everywhere(version, "app_model_errors")],
    explains: inPath(
      /^(?:error|turn\/completed|response to thread\/(?:read|turns\/list))$/,
      /(?:^|\.)error\.message$/,
      (m) => m.kind === "changed",
    ),
  },
  {
    key: "v2-retry",
    original:
      "When a response breaks off and is requested again, the open item is left behind, and another one starts. `codexErrorInfo` has the kind of the failure.",
    colloquy:
      "The item completes with what was sent, and starts again under its id; the kind is `other`.",
    why: "Every started item completes.",
    proofs: [only(version, "app_model_retry")],
    explains: anyOf(
      inPath(/^error$/, /^params\.error\.codexErrorInfo$/, (m) => m.ours === "other"),
      moved(/^item\/(?:(?:started|completed) agentMessage|agentMessage\/delta)$/),
      inPath(/^turn\/completed$/, /^params\.turn\.items\.0\.id$/),
    ),
  },
  {
    key: "v2-diff-once",
    original: "`turn/diff/updated` is repeated after every model response.",
    colloquy: "It is sent when a patch has changed a file.",
    why: "No information is lost.",
    proofs: [
      only(version, "app_patch_accept"),
      only(version, "app_patch_auto"),
      only(version, "app_patch_variants"),
    ],
    explains: whole("missing", /^turn\/diff\/updated$/),
  },
  {
    key: "v2-refused-calls",
    original:
      "A call of an unknown tool, a command that the sandbox stops and a patch that cannot be applied are no items: only the model is told.",
    colloquy: "Each is an item that has failed, with the reason.",
    why: "A person sees what the model tries.",
    proofs: [only(version, "app_patch_variants"), only(version, "app_tools_misc")],
    explains: whole(
      "added",
      /^item\/(?:started|completed) dynamicToolCall$/,
      (m) => member(m, "params", "item", "tool") === "shell",
    ),
  },
  {
    key: "v2-output-deltas",
    original: "The output of a command that ends soon, or begins at once, has no deltas.",
    colloquy: "All of it is sent in deltas.",
    why: "A client that shows deltas shows the whole output.",
    proofs: [
      only(version, "app_shell_ok"),
      only(version, "app_shell_fail"),
      only(version, "app_read_turns", "thread of 2"),
      only(version, "app_tools_misc"),
    ],
    explains: whole("added", /^item\/commandExecution\/outputDelta$/),
  },
  {
    key: "v2-command-process",
    original:
      "The item of a command has a `processId`, with which the model can write to the command.",
    colloquy: "It is null.",
    why: "A command ends with its call; its input is empty.",
    proofs: [everywhere(version, "app_shell_ok")],
    explains: inPath(/./, /(?:^|\.)processId$/, from("<process>", null)),
  },
  {
    key: "v2-command-actions",
    original: "`commandActions` of a command that only prints something is all of it.",
    colloquy: "What only prints is left out, as in the first version.",
    why: "The rest is what the command does; `command` has all of it.",
    proofs: [only(version, "app_shell_fail"), only(version, "app_thread_ops")],
    explains: inPath(
      /^item\/(?:started|completed) commandExecution$/,
      /^params\.item\.commandActions\.0\.command$/,
      (m) => String(m.original).endsWith(`; ${String(m.ours)}`),
    ),
  },
  {
    key: "v2-raw-items",
    original:
      "With `experimentalRawEvents` also the texts of the original for the model are notified, items have ids, and `rawResponse/completed` has the usage.",
    colloquy: "The user's input and what the model sends are notified as they are in the log.",
    why: "`thread/tokenUsage/updated` has the usage.",
    proofs: [only(version, "app_caps_optout")],
    explains: moved(/^(?:rawResponseItem|rawResponse)\/completed/),
  },
  {
    key: "v2-queued-id",
    original: "A queued input and the turn that it starts have different ids.",
    colloquy: "They have the same id.",
    why: "A client knows the turn before it starts.",
    proofs: [only(version, "app_queue", "4", "5")],
    explains: inPath(
      /^response to thread\/queue\/(?:add|list)$/,
      /^result\.(?:queuedSubmission|data\.0)\.id$/,
      (m) => String(m.ours).startsWith("<turn of "),
    ),
  },
  {
    key: "v2-turn-subscribes",
    original:
      "`turn/start` does not subscribe: a client that is not subscribed gets only the response.",
    colloquy: "The client is subscribed to the thread.",
    why: "Who starts a turn wants to read the answer.",
    proofs: [
      only(version, "app_thread_ops", "thread of 2"),
      only(version, "app_ws_two_clients", "B thread of A 2"),
    ],
    explains: whole(
      "added",
      /^(?:turn\/(?:started|completed)|item\/|thread\/(?:tokenUsage\/updated|readState\/changed))/,
    ),
  },
  {
    key: "v2-late-subscriber",
    original:
      "A client that resumes a thread during a message gets the rest of it, without `item/started`. A running turn in a response has its finished items only.",
    colloquy:
      "It gets `item/started` and then all of the text, in pieces of its own. The turn also has the calls that run or wait for an approval; a client whose response has no items gets `turn/started` and `item/started` of what is open.",
    why: "What a client concatenates is the whole text, and every item that it is notified of has a beginning.",
    proofs: [only(version, "app_ws_two_clients", "A thread of A 2", "B thread of A 2")],
    explains: anyOf(
      whole("added", /^item\/started agentMessage$/),
      whole("missing", /^item\/agentMessage\/delta$/),
      inPath(/^item\/agentMessage\/delta$/, /^params\.delta$/, (m) =>
        String(m.ours).includes(String(m.original)),
      ),
    ),
  },
  {
    key: "v2-open-items",
    original:
      "A client that resumes a thread in the middle of a turn gets its finished items, and is asked about an item that it has not seen.",
    colloquy: "The response has the items that run or wait for an answer as well, `inProgress`.",
    why: "No client approves a command or a patch without its contents.",
    proofs: [everywhere(version, "app_ws_late_joiner_pending_approval")],
    explains: inPath(
      /^response to thread\/resume$/,
      /^result\.thread\.turns\.\d+\.items\.\d+$/,
      (m) => m.kind === "added" && at(m.ours, "status") === "inProgress",
    ),
  },
  {
    key: "v2-summary-setting",
    original: "`summary` of `thread/settings/updated` is null unless it is set.",
    colloquy: "It is the setting in effect.",
    why: "A client can show it.",
    proofs: [
      only(version, "app_thread_ops", "thread of 2"),
      only(version, "app_user_input", "thread of 2"),
    ],
    explains: inPath(
      /^thread\/settings\/updated$/,
      /^params\.threadSettings\.summary$/,
      from(null, "auto"),
    ),
  },
  {
    key: "v2-review-turn",
    original:
      "A review has two turn ids: the one that is returned, which its items have, and another one that `turn/started` and `turn/interrupt` use. The message of the model is an item that never completes, and the text of the findings comes without deltas.",
    colloquy:
      "It is one turn with the returned id, from the response to its end, and its items are complete; the usage is notified. The message of the model is no item.",
    why: "It can be interrupted by the id that was returned.",
    proofs: [only(version, "app_review", "3", "4", "10", "12", "thread of 2")],
    explains: anyOf(
      inPath(/^response to review\/start$/, /^result\.turn\.(?:rootTurnId|items\.0\.id)$/),
      succeeds("turn/interrupt"),
      moved(/^(?:thread\/status\/changed (?:active|idle)|turn\/(?:started|completed))$/),
      moved(/^item\/started (?:agentMessage|exitedReviewMode)$/),
      moved(/^item\/completed (?:agentMessage|exitedReviewMode)$/),
      whole("added", /^(?:item\/agentMessage\/delta|thread\/tokenUsage\/updated)$/),
      inPath(/^turn\/completed$/, /^params\.turn\.items\.0\.id$/),
    ),
  },
  {
    key: "v2-mode-instructions",
    original: "`thread/settings/updated` has the instructions of the original for its modes.",
    colloquy: "It has the client's instructions only.",
    why: "A client that sends them back would replace those of a later version.",
    proofs: [only(version, "app_user_input", "thread of 2")],
    explains: inPath(
      /^thread\/settings\/updated$/,
      /\.collaborationMode\.settings\.developer_instructions$/,
      from("…", null),
    ),
  },
  {
    key: "v2-tool-servers",
    original:
      "`mcpServer/startupStatus/updated` reports the start of tool servers for each thread.",
    colloquy: "`mcpServerStatus/list` reports them.",
    why: "Tool servers are shared by threads, and start when the first of them needs their tools.",
    proofs: [only(version, "app_mcp_tools"), only(version, "app_mcp_elicit_decline")],
    explains: missing(/^mcpServer\/startupStatus\/updated/, ""),
  },
]
