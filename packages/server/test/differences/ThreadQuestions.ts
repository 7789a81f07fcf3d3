/** Differences of the requests that app-server v2 sends to its clients. */
import { type Difference, everywhere, only } from "./Difference.ts"
import { anyOf, missing } from "./Explain.ts"
import { from, inPath, member, moved, version, whole } from "./ThreadExplain.ts"

export const threadQuestions: ReadonlyArray<Difference> = [
  {
    key: "v2-question-text",
    original: "`reason` of an approval request is the text of the model or the tool, if any.",
    colloquy:
      "It also says what an approval allows, names the files of a patch and characters that look like others, and quotes the text of the model and the tool.",
    why: "Clients show it, and a person decides by what they read.",
    proofs: [everywhere(version, "app_exec_accept"), everywhere(version, "app_patch_accept")],
    explains: inPath(/\/requestApproval$/, /^params\.reason$/, (m) =>
      String(m.ours).startsWith("If approved, "),
    ),
  },
  {
    key: "v2-decisions",
    original:
      "The decisions that are offered include a rule for similar commands, and leave out some that work.",
    colloquy:
      "`accept`, `acceptForSession`, `decline` and `cancel` are offered; no rule is proposed.",
    why: "A rule by the beginning of a command allows more than a person sees.",
    proofs: [everywhere(version, "app_exec_accept")],
    explains: anyOf(
      inPath(
        /^item\/commandExecution\/requestApproval$/,
        /^params\.availableDecisions$/,
        (m) => JSON.stringify(m.ours) === '["accept","acceptForSession","decline","cancel"]',
      ),
      missing(/^item\/commandExecution\/requestApproval$/, "params.proposedExecpolicyAmendment"),
    ),
  },
  {
    key: "v2-declined-at-once",
    original: "The item of a declined command completes after the usage of the response.",
    colloquy: "It completes when it is declined.",
    why: "Nothing more happens to it.",
    proofs: [
      only(version, "app_exec_decline", "thread of 2"),
      only(version, "app_exec_error", "thread of 2"),
    ],
    explains: moved(/^item\/completed commandExecution$/),
  },
  {
    key: "v2-cancelled-patch",
    original: "The item of a patch never completes when its approval is cancelled.",
    colloquy: "It completes as `declined`.",
    why: "Every started item completes.",
    proofs: [only(version, "app_patch_cancel", "thread of 2")],
    explains: whole(
      "added",
      /^item\/completed fileChange$/,
      (m) => member(m, "params", "item", "status") === "declined",
    ),
  },
  {
    key: "v2-one-question",
    original: "Commands of one response that need approvals are asked about at the same time.",
    colloquy: "They run one after the other, each with its question.",
    why: "A person decides about a command when those before it have run.",
    proofs: [only(version, "app_two_approvals_at_once", "thread of 2")],
    explains: anyOf(
      moved(
        /^(?:serverRequest\/resolved|thread\/status\/changed active|item\/completed commandExecution)$/,
      ),
      moved(/^item\/(?:started commandExecution|commandExecution\/requestApproval)$/),
    ),
  },
  {
    key: "v2-permission-requests",
    original: "Permissions that the turn has already are asked for again.",
    colloquy: "What was granted already is not asked again.",
    why: "A person answers once.",
    proofs: [only(version, "app_permissions", "thread of 2")],
    explains: whole(
      "missing",
      /^(?:item\/permissions\/requestApproval|serverRequest\/resolved|thread\/status\/changed active)$/,
    ),
  },
  {
    key: "v2-development",
    original:
      "A warning says that requests for permissions, and questions to the user outside plan mode, are under development.",
    colloquy:
      "Both are served without a warning; `tools.request_user_input` offers the questions outside plan mode.",
    why: "They are complete here.",
    proofs: [
      only(version, "app_permissions", "thread of 2"),
      only(version, "app_user_input", "thread of 2"),
    ],
    explains: whole("missing", /^warning$/, (m) =>
      String(member(m, "params", "message")).startsWith("Under-development features enabled: "),
    ),
  },
  {
    key: "v2-blocking-questions",
    original: "Questions to the user outside plan mode have `isBlocking` false.",
    colloquy: "It is true in every mode.",
    why: "The turn waits for the answers.",
    proofs: [only(version, "app_user_input", "thread of 2")],
    explains: inPath(/^item\/tool\/requestUserInput$/, /^params\.isBlocking$/, from(false, true)),
  },
  {
    key: "v2-form-text",
    original: "The text of a form is what the tool server has written.",
    colloquy: "It names the tool server and quotes its text.",
    why: "A tool server cannot pass for the server.",
    proofs: [
      only(version, "app_mcp_tools", "thread of 2"),
      only(version, "app_mcp_elicit_decline", "thread of 2"),
    ],
    explains: inPath(
      /^mcpServer\/elicitation\/request$/,
      /^params\.message$/,
      (m) =>
        String(m.ours).startsWith("Tool server `") && String(m.ours).includes(String(m.original)),
    ),
  },
  {
    key: "v2-tool-server-approvals",
    original:
      "An approval of a call of a tool server can be kept for ever, and shows the description of the tool.",
    colloquy:
      "It can be kept for the session, and the text shows the arguments and what the approval allows, not what the server says of itself.",
    why: "A person decides by what the call does.",
    proofs: [only(version, "app_mcp_tools", "thread of 2")],
    explains: anyOf(
      inPath(/^mcpServer\/elicitation\/request$/, /^params\._meta\.(?:persist|tool_description)$/),
      inPath(/^mcpServer\/elicitation\/request$/, /^params\.message$/, (m) =>
        String(m.ours).startsWith("Allow Codex to call `"),
      ),
    ),
  },
]
