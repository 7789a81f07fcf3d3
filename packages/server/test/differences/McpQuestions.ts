/** Differences of approval requests over elicitation. */
import type { WireMessage } from "../support/Wire.ts"
import { type Difference, everywhere, only } from "./Difference.ts"
import {
  added,
  anyOf,
  changed,
  equals,
  isContent,
  isOfSubmission,
  missing,
  same,
} from "./Explain.ts"

const elicitation = "elicitation/create"

/** The lines that Colloquy adds to an approval request in these recordings, of a command and of a patch. */
const isReason = (ours: unknown): boolean =>
  /^If approved, (it runs without the sandbox: it can read and change every file|these files are changed) .*\nApproved for the session, .*(\nFiles \(1 update\):\n {2}update "\/workspace\/hello\.txt".*)?(\nThat directory is where symbolic links lead from the one that the call named: "\/workspace\/link")?(\nIt is asked because: "(need to write|just reading|command failed; retry without sandbox\?)")?$/.test(
    String(ours),
  )

const isParsed = (ours: unknown) =>
  ["touch made.txt", "own-tool", "echo hello"].some((cmd) => same(ours, [{ type: "unknown", cmd }]))

export const mcpQuestions: ReadonlyArray<Difference> = [
  {
    key: "elicitation-form",
    original:
      "The form of an approval request has no members, and only the response `{ decision }` is understood.",
    colloquy:
      "The form has one member, `decision`, with its values; `{ decision }` and responses of the specification are understood.",
    why: "Any client of the Model Context Protocol can show the form and respond.",
    proofs: [
      everywhere("0.29.0", "approve", "0"),
      everywhere("0.153.4", "on_request_escalated", "0"),
    ],
    explains: anyOf(
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
  },
  {
    key: "question-numbers",
    original: "The ids of the server's requests start at 0.",
    colloquy: "They start at 1.",
    why: "The official TypeScript clients 1.x ignore the cancellation of a request with the id 0.",
    proofs: [
      everywhere("0.29.0", "approve", "0"),
      everywhere("0.153.4", "on_request_escalated", "0"),
    ],
    explains: changed(elicitation, "id", (original, ours) => same([original, ours], [0, 1])),
  },
  {
    key: "elicitation-thread-id",
    original: "An approval request names only the call that it belongs to.",
    colloquy: "It also names the conversation, in `threadId`, as later versions do.",
    why: "A client can tell conversations apart without a table of its requests.",
    proofs: [everywhere("0.29.0", "approve", "0")],
    explains: added(elicitation, "params.threadId", equals("<conversation of 2>")),
  },
  {
    key: "command-reason",
    original: "The reason for a command is only in the event.",
    colloquy: "It is also in the approval request, in `message` and `codex_reason`.",
    why: "A person should read the reason before they decide.",
    proofs: [
      everywhere("0.29.0", "on_request_escalated", "0"),
      everywhere("0.153.4", "on_request_escalated", "0"),
    ],
    explains: added(elicitation, "params.codex_reason", isReason),
  },
  {
    key: "question-text",
    original:
      "The message of an approval request is one sentence with the unmodified command; `reason` is the text of the model or the tool.",
    colloquy:
      "That sentence is the first line; a command that is long, has line feeds or invisible characters follows below, indented. `message` and `reason` say what an approval allows, name the files of a patch and characters that look like others, and quote the text of the model and the tool.",
    why: "A person decides by what they read, and no text of a model may look like a statement of the server.",
    proofs: [
      everywhere("0.29.0", "approve", "0", "2"),
      everywhere("0.153.4", "on_request_escalated", "0", "2"),
    ],
    explains: anyOf(
      changed(
        elicitation,
        "params.message",
        (original, ours) =>
          String(ours).startsWith(`${String(original)}\n`) &&
          isReason(String(ours).slice(String(original).length + 1)),
      ),
      (m) =>
        /^event:(exec|apply_patch)_approval_request$/.test(m.label) &&
        m.path === "params.msg.reason" &&
        m.kind !== "missing" &&
        isReason(m.ours),
    ),
  },
  {
    key: "parsed-command",
    original: "An approval request has only the command.",
    colloquy:
      "The request and its event also say what the command does, in `codex_parsed_cmd` and `parsed_cmd`, as later versions do.",
    why: "A client can show that a file is read or searched without parsing shell scripts.",
    proofs: [everywhere("0.29.0", "approve", "0", "2")],
    explains: anyOf(
      added(elicitation, "params.codex_parsed_cmd", isParsed),
      added("event:exec_approval_request", "params.msg.parsed_cmd", isParsed),
    ),
  },
  {
    key: "plain-accept",
    original: "A response that accepts without a decision is a denial.",
    colloquy: "A response that accepts without a decision is an approval.",
    why: "A client without forms sends it when the person approves.",
    proofs: [only("0.29.0", "approve_spec_accept", "2")],
    explains: added(/^event:exec_command_(begin|end)$/, "", isOfSubmission("2")),
  },
  {
    key: "error-denies",
    original:
      "After an error response to an approval request the request stays open, and the call never gets a response.",
    colloquy: "An error response denies the request, and the turn continues.",
    why: "A client that gets no response waits for ever.",
    proofs: [only("0.29.0", "approve_error", "2")],
    explains: anyOf(
      added(
        /^event:(agent_message_delta|agent_message|token_count|task_complete)$/,
        "",
        isOfSubmission("2"),
      ),
      added("response", "", (ours) =>
        isContent((ours as WireMessage).result?.["content"], "after error"),
      ),
    ),
  },
  {
    key: "not-asked",
    original: "A client that did not declare the capability `elicitation` gets approval requests.",
    colloquy:
      "The client gets none: the setting `unattended` decides at once, by default with a denial, and the result lists the requests in `_meta`.",
    why: "The Model Context Protocol asks for it, and a client that cannot respond would hang.",
    proofs: [only("0.29.0", "approve_no_elicitation_capability", "0", "2")],
    explains: anyOf(
      missing(
        /^elicitation\/create$|^event:exec_(approval_request|command_begin|command_end)$/,
        "",
      ),
      added(
        "response",
        "result._meta",
        equals({ "colloquy/unattended": [{ call_id: "call_00003e", decision: "denied" }] }),
      ),
    ),
  },
]
