/** Differences of the end of turns, of cancelled calls and of the events of commands and patches. */
import * as Base64 from "effect/encoding/Base64"
import type { WireMessage } from "../support/Wire.ts"
import { type Difference, everywhere, only } from "./Difference.ts"
import {
  added,
  anyOf,
  changed,
  errorAdded,
  isContent,
  isOfSubmission,
  missing,
  same,
} from "./Explain.ts"

/** An event of the turn of a `codex-reply`, whose submissions are counted. */
const isOfReply = (message: unknown) => /^\d$/.test(String((message as WireMessage).params?.["id"]))

export const mcpTurns: ReadonlyArray<Difference> = [
  {
    key: "abort-answered",
    original: "A call whose turn was stopped by the decision `abort` never gets a response.",
    colloquy: "The call gets a result with `isError` and the conversation id.",
    why: "A client that gets no response waits for ever.",
    proofs: [only("0.29.0", "abort", "2")],
    explains: added("response", "", (ours) => {
      const { content, isError } = (ours as WireMessage).result ?? {}
      return isError === true && isContent(content, "Turn interrupted")
    }),
  },
  {
    key: "stopped-tokens",
    original:
      "The tokens of a model response are not reported when its turn is stopped by the decision `abort`.",
    colloquy: "They are reported in `token_count`, before `turn_aborted`.",
    why: "They were used, and the totals include them.",
    proofs: [only("0.29.0", "abort", "2")],
    explains: added("event:token_count", "", isOfSubmission("2")),
  },
  {
    key: "unfinished-text",
    original:
      "The text of a turn that is stopped, or fails, in the middle of its answer is sent in deltas only.",
    colloquy:
      "It is also sent as `agent_message`, before the event that ends the turn, and stays in the conversation.",
    why: "The model gets it with the next message, and a client that attaches later can read it.",
    proofs: (["0.29.0", "0.153.4"] as const).flatMap((version) =>
      ["cancel_stream", "model_drop", "requests_during_turn"].map((name) =>
        only(version, name, "2"),
      ),
    ),
    explains: added("event:agent_message", "", (ours) =>
      ["partial", "x"].includes(
        String(Reflect.get((ours as WireMessage).params?.["msg"] ?? {}, "message")),
      ),
    ),
  },
  {
    key: "events-of-next-call",
    original:
      "After a call was cancelled, or stopped by the decision `abort`, events of the next call name the request of the stopped one.",
    colloquy: "Events name the request of the call that caused them.",
    why: "A client could not tell which call the events belong to.",
    proofs: [
      only("0.29.0", "abort", "2", "4"),
      only("0.29.0", "cancel_shell", "2", "4"),
      only("0.29.0", "cancel_stream", "2", "5"),
    ],
    explains: (m) =>
      m.path === "" &&
      /^event:(task_started|agent_message_delta|agent_message)$/.test(m.label) &&
      (m.kind === "missing"
        ? m.request === "2" && isOfReply(m.original)
        : (m.request === "4" || m.request === "5") && isOfReply(m.ours)),
  },
  {
    key: "end-of-input",
    original: "While a turn runs, the process stays alive after the end of its input.",
    colloquy:
      "At the end of input running turns are stopped, their calls get the error -32000, and the process exits.",
    why: "No client is left to read a response, and orphaned processes cost money.",
    proofs: ["0.29.0", "0.153.4"].map((version) =>
      only(version as "0.29.0", "requests_during_turn", "2"),
    ),
    explains: anyOf(
      added("event:turn_aborted", "", (ours) =>
        same((ours as WireMessage).params?.["msg"], {
          type: "turn_aborted",
          reason: "interrupted",
        }),
      ),
      errorAdded(-32000),
    ),
  },
  {
    key: "end-of-input-bound",
    original:
      "A turn whose text is being streamed at the end of input is finished, and the call gets its result.",
    colloquy:
      "The turn has half a second to finish (`shutdown_grace_ms`); then it is stopped, and its call gets the error -32000.",
    why: "A server whose client has gone must exit within a bounded time.",
    proofs: [only("0.29.0", "eof_during_turn", "2"), only("0.153.4", "eof_during_turn", "2")],
    explains: anyOf(
      missing(/^event:(agent_message_delta|agent_message|token_count|task_complete)$/, ""),
      missing("response", "result"),
      changed("event:agent_message", "params.msg.message", (original, ours) =>
        String(original).startsWith(String(ours)),
      ),
      added("response", "error", (ours) => (ours as { readonly code: number }).code === -32000),
      added("event:turn_aborted", "", (ours) =>
        same((ours as WireMessage).params?.["msg"], {
          type: "turn_aborted",
          reason: "interrupted",
        }),
      ),
    ),
  },
  {
    key: "output-encoding",
    original: "The output of a running command is sent as arrays of byte values.",
    colloquy: "It is sent as base64, as in later versions.",
    why: "It is about a third of the size, and clients of later versions read it.",
    proofs: [everywhere("0.29.0", "shell_ok", "2")],
    explains: changed(
      "event:exec_command_output_delta",
      "params.msg.chunk",
      (original, ours) =>
        Array.isArray(original) &&
        ours === Base64.encode(Uint8Array.from(original.filter(Number.isInteger))),
    ),
  },
  {
    key: "timeout-output",
    original:
      "The end event of a command that timed out has the exit code -1 and not the command's output.",
    colloquy: "It has the exit code 124 and the output so far.",
    why: "The output shows where the command hung; 124 is the exit code of `timeout`.",
    proofs: [only("0.29.0", "shell_timeout")],
    explains: changed(
      "event:exec_command_end",
      /^params\.msg\.(stdout|stderr|aggregated_output|exit_code|formatted_output)$/,
      () => true,
    ),
  },
  {
    key: "sandbox-exit-code",
    original: "The end event of a command that fails in the sandbox has the exit code -1.",
    colloquy: "It has the exit code of the command.",
    why: "A failed test is not a forbidden write.",
    proofs: [only("0.29.0", "on_failure")],
    explains: changed("event:exec_command_end", "params.msg.exit_code", (original, ours) =>
      same([original, ours], [-1, 1]),
    ),
  },
  {
    key: "diff-once",
    original: "`turn_diff` is repeated after every model response.",
    colloquy: "`turn_diff` is sent when a patch has changed a file.",
    why: "No information is lost, and the diff of a long turn is not sent twenty times.",
    proofs: ["patch_auto", "patch_fn_approve", "patch_heredoc_approve"].map((name) =>
      only("0.29.0", name),
    ),
    explains: missing("event:turn_diff", ""),
  },
]
