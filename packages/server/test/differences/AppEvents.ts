/** Differences of the notifications and of the server's requests of the app-server. */
import type { Mismatch } from "../support/Compare.ts"
import { type Difference, everywhere, only } from "./Difference.ts"
import { type Explains, added, anyOf, changed, missing } from "./Explain.ts"

const text = (value: unknown): string => JSON.stringify(value) ?? ""

/** The type of the event that the mismatch is about. */
const eventOf = ({ label }: Mismatch): string | undefined => /^codex\/event\/(.*)$/.exec(label)?.[1]

const wholeEvent =
  (kind: "added" | "missing", accept: (type: string, mismatch: Mismatch) => boolean): Explains =>
  (m) => {
    const type = eventOf(m)
    return type !== undefined && m.kind === kind && m.path === "" && accept(type, m)
  }

export const appEvents: ReadonlyArray<Difference> = [
  {
    key: "app-event-members",
    original: "An event names neither its listener nor its number.",
    colloquy:
      "An event has `subscriptionId`, and `seq` when `addConversationListener` has `after`; `conversationSkipped` has the number of an event that is not sent.",
    why: "A client that was disconnected can continue where it was, and detects lost events.",
    proofs: [everywhere("0.29.0-app", "conv_basic"), everywhere("0.45.0", "conv_basic")],
    explains: added(/^codex\/event\//, "params.subscriptionId"),
  },
  {
    key: "app-every-listener",
    original: "Two listeners share the events: each event is delivered to one of them.",
    colloquy: "Every event is delivered to every listener, also the end of a conversation.",
    why: "Neither listener could follow the conversation.",
    proofs: [
      only("0.29.0-app", "conv_two_listeners"),
      only("0.45.0", "conv_list_resume_archive"),
      only("0.45.0", "conv_two_listeners"),
    ],
    explains: wholeEvent("added", (type) => type !== "agent_message"),
  },
  {
    key: "app-partial-text",
    original: "The text so far of an interrupted turn is sent in deltas only.",
    colloquy: "It is also sent to every listener as `agent_message`, and stored.",
    why: "It is part of the next request to the model, and a client that connects later reads it.",
    proofs: [
      only("0.29.0-app", "conv_interrupt"),
      only("0.29.0-app", "conv_two_listeners"),
      only("0.45.0", "conv_interrupt"),
      only("0.45.0", "conv_list_resume_archive"),
      only("0.45.0", "conv_two_listeners"),
    ],
    explains: wholeEvent("added", (type) => type === "agent_message"),
  },
  {
    key: "app-usage",
    original:
      "`token_count` has the usage in flat members (0.29) or in `info` (0.45), and limits with empty members.",
    colloquy: "It has both, and no limits that are unknown.",
    why: "One server serves the clients of both versions.",
    proofs: [everywhere("0.29.0-app", "conv_basic"), everywhere("0.45.0", "conv_basic")],
    explains: (m) =>
      eventOf(m) === "token_count" &&
      m.kind !== "missing" &&
      /^params\.msg\.(info|rate_limits|\w+_tokens)$/.test(m.path),
  },
  {
    key: "app-repeated-usage",
    original:
      "Every model response begins with a `token_count` that repeats the last one or has no count.",
    colloquy: "`token_count` is sent when there is a new count.",
    why: "It has no information.",
    proofs: [everywhere("0.45.0", "conv_basic")],
    explains: wholeEvent("missing", (type) => type === "token_count"),
  },
  {
    key: "app-question-numbers",
    original: "The ids of the server's requests start at 0.",
    colloquy: "They start at 1.",
    why: "Some clients ignore the cancellation of a request with the id 0.",
    proofs: [
      everywhere("0.29.0-app", "conv_exec_approved", "0"),
      everywhere("0.45.0", "conv_exec_approved", "0"),
    ],
    explains: changed(/Approval$/, "id", (original, ours) => original === 0 && ours === 1),
  },
  {
    key: "app-parsed-command",
    original: "An approval request for a command does not say what the command does.",
    colloquy: "It has `parsedCmd`, as in later versions.",
    why: "A client can show what the command does without parsing shell scripts.",
    proofs: [
      everywhere("0.29.0-app", "conv_exec_approved"),
      everywhere("0.45.0", "conv_exec_approved"),
    ],
    explains: added(/.*/, /^params\.(parsedCmd|msg\.parsed_cmd)$/),
  },
  {
    key: "app-diff-once",
    original: "`turn_diff` is repeated after every model response.",
    colloquy: "It is sent when a patch has changed a file.",
    why: "No information is lost.",
    proofs: [only("0.29.0-app", "conv_patch_approved"), only("0.45.0", "conv_patch_approved")],
    explains: wholeEvent("missing", (type) => type === "turn_diff"),
  },
  {
    key: "app-resumed-turns",
    original: "A resumed conversation counts its turns and tokens from 0.",
    colloquy: "It continues to count.",
    why: "The ids of turns stay unique, and the total stays the total.",
    proofs: [only("0.45.0", "conv_list_resume_archive")],
    explains: (m) =>
      eventOf(m) !== undefined &&
      m.kind === "changed" &&
      (m.path === "params.id" || m.path.startsWith("params.msg.info.total_token_usage.")),
  },
  {
    key: "app-denied-command",
    original: "A denied command gets an `exec_command_end` event (0.45).",
    colloquy: "It gets none, as in earlier versions.",
    why: "The command never ran.",
    proofs: [only("0.45.0", "conv_exec_denied")],
    explains: wholeEvent("missing", (type) => type === "exec_command_end"),
  },
  {
    key: "app-environment-message",
    original: "The settings of a turn are sent back as a `user_message` event (0.45).",
    colloquy: "They are sent only to a listener that gave `after`.",
    why: "No person wrote them.",
    proofs: [only("0.45.0", "conv_user_turn")],
    explains: wholeEvent(
      "missing",
      (type, m) => type === "user_message" && text(m.original).includes("<environment_context>"),
    ),
  },
  {
    key: "app-empty-turn",
    original:
      "A message without items causes a `task_complete` event without `task_started` (0.45).",
    colloquy: "It causes no event.",
    why: "An end without a beginning breaks clients that pair them.",
    proofs: [only("0.45.0", "conv_user_turn")],
    explains: wholeEvent("missing", (type) => type === "task_complete"),
  },
  {
    key: "app-auth-names",
    original:
      "A change of the login is sent as `codex/event/auth_status_change`, and `getAuthStatus` returns `preferredAuthMethod` (0.29).",
    colloquy: "They are `authStatusChange` and `requiresOpenaiAuth`, as in later versions.",
    why: "No version of the original has both.",
    proofs: [only("0.29.0-app", "conv_misc")],
    explains: anyOf(
      added("authStatusChange", ""),
      missing("codex/event/auth_status_change", ""),
      (m) => m.path === "result.preferredAuthMethod",
      added(/.*/, "result.requiresOpenaiAuth"),
    ),
  },
  {
    key: "app-question-text",
    original: "`reason` of an approval request is the text of the model or the tool, if any.",
    colloquy:
      "It also says what an approval allows, names the files of a patch and characters that look like others, and quotes the text of the model and the tool.",
    why: "Clients show it, and a person decides by what they read.",
    proofs: [
      everywhere("0.29.0-app", "conv_exec_approved"),
      everywhere("0.45.0", "conv_exec_approved"),
    ],
    explains: added(/.*/, /^params\.(reason|msg\.reason)$/, (ours) =>
      String(ours).startsWith("If approved, "),
    ),
  },
]
