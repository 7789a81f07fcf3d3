/** From the core's questions to `elicitation/create`, in the order and the words of the original (§1.10). Pure. */
import { questionText, shownReason } from "@colloquy/core/question/QuestionText"
import type { Event, EventOf } from "@colloquy/protocol/EventMsg"
import { type RequestId, requestIdText } from "@colloquy/protocol/JsonRpc"
import { decisionForm, type ElicitParams } from "@colloquy/protocol/mcp/Elicitation"

type Exec = EventOf<"exec_approval_request">
type Patch = EventOf<"apply_patch_approval_request">
type OfServer = EventOf<"elicitation_request">

/** An event that puts a question to a person. */
export type Question = Event & { readonly msg: Exec | Patch | OfServer }

export const isQuestion = (event: Event): event is Question =>
  event.msg.type === "exec_approval_request" ||
  event.msg.type === "apply_patch_approval_request" ||
  event.msg.type === "elicitation_request"

/** What `approval_resolved` calls it by. */
export const questionId = ({ msg }: Question): string =>
  msg.type === "elicitation_request" ? msg.id : msg.call_id

const subjectOf = (msg: Exec | Patch): Partial<ElicitParams> =>
  msg.type === "exec_approval_request"
    ? {
        codex_command: msg.command,
        codex_cwd: msg.cwd,
        ...(msg.parsed_cmd === undefined ? {} : { codex_parsed_cmd: msg.parsed_cmd }),
      }
    : { codex_changes: msg.changes }

interface Call {
  readonly requestId: RequestId
  readonly threadId: string
}

/** Its message says already that a tool server asks. */
const ofServer = (msg: OfServer, { threadId }: Call): ElicitParams => ({
  message: shownReason(msg.message),
  requestedSchema: msg.requested_schema,
  threadId,
})

export const elicitParams = ({ id, msg }: Question, call: Call): ElicitParams =>
  msg.type === "elicitation_request" ? ofServer(msg, call) : ofUs(id, msg, call)

const ofUs = (id: string, msg: Exec | Patch, call: Call): ElicitParams => ({
  message: questionText(msg),
  requestedSchema: decisionForm(),
  threadId: call.threadId,
  codex_elicitation: msg.type === "exec_approval_request" ? "exec-approval" : "patch-approval",
  codex_mcp_tool_call_id: requestIdText(call.requestId),
  codex_event_id: id,
  codex_call_id: msg.call_id,
  ...subjectOf(msg),
  ...(msg.reason === undefined ? {} : { codex_reason: shownReason(msg.reason) }),
  ...(msg.type === "apply_patch_approval_request" && msg.grant_root !== undefined
    ? { codex_grant_root: msg.grant_root }
    : {}),
})
