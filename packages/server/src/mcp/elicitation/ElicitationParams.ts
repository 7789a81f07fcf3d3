/**
 * From the core's questions to the params of `elicitation/create`, in the members, the order and the words of the original
 * (packages/docs/wire/codex-mcp.md). Pure.
 */
import { questionText, shownReason } from "@colloquy/core/question/QuestionText"
import { userInputForm } from "@colloquy/core/question/UserInputForm"
import type { EventOf } from "@colloquy/protocol/EventMsg"
import { type RequestId, requestIdText } from "@colloquy/protocol/JsonRpc"
import { decisionForm, type ElicitParams } from "@colloquy/protocol/mcp/Elicitation"
import type { Question } from "../../questions/Question.ts"

type Exec = EventOf<"exec_approval_request">
type Patch = EventOf<"apply_patch_approval_request">
type Tool = EventOf<"tool_approval_request">
type Permissions = EventOf<"request_permissions">
type ServerForm = EventOf<"elicitation_request">
type AgentQuestions = EventOf<"request_user_input">

/** The tool call in whose name a question is put. */
export interface AskingCall {
  /** Id of the `tools/call` request. */
  readonly requestId: RequestId
  /** Id of the conversation. */
  readonly threadId: string
}

/** Params of the request that puts this question in the name of that call. */
export const elicitParams = ({ id, msg }: Question, call: AskingCall): ElicitParams =>
  msg.type === "elicitation_request" || msg.type === "request_user_input"
    ? formParams(msg, call)
    : approvalParams(id, msg, call)

/** The form of a tool server, or of the agent's questions. Its message says already who asks. */
const formParams = (msg: ServerForm | AgentQuestions, { threadId }: AskingCall): ElicitParams => {
  if (msg.type === "request_user_input") {
    const { message, requestedSchema } = userInputForm(msg.questions)
    return { message: shownReason(message), requestedSchema, threadId }
  }
  return { message: shownReason(msg.message), requestedSchema: msg.requested_schema, threadId }
}

const kinds = {
  exec_approval_request: "exec-approval",
  apply_patch_approval_request: "patch-approval",
  tool_approval_request: "tool-approval",
  request_permissions: "tool-approval",
} as const

/** An approval. `id` is that of the submission, which the original calls the event id. */
const approvalParams = (
  id: string,
  msg: Exec | Patch | Tool | Permissions,
  call: AskingCall,
): ElicitParams => ({
  message: questionText(msg),
  requestedSchema: decisionForm(),
  threadId: call.threadId,
  codex_elicitation: kinds[msg.type],
  codex_mcp_tool_call_id: requestIdText(call.requestId),
  codex_event_id: id,
  codex_call_id: msg.call_id,
  ...subjectOf(msg),
  ...(msg.reason === undefined ? {} : { codex_reason: shownReason(msg.reason) }),
  ...(msg.type === "apply_patch_approval_request" && msg.grant_root !== undefined
    ? { codex_grant_root: msg.grant_root }
    : {}),
})

/** The command, the changes or the call that need the approval. */
const subjectOf = (msg: Exec | Patch | Tool | Permissions): Partial<ElicitParams> => {
  switch (msg.type) {
    case "exec_approval_request":
      return {
        codex_command: msg.command,
        codex_cwd: msg.cwd,
        ...(msg.parsed_cmd === undefined ? {} : { codex_parsed_cmd: msg.parsed_cmd }),
      }
    case "apply_patch_approval_request":
      return { codex_changes: msg.changes }
    case "tool_approval_request":
      return {
        codex_tool: msg.server === undefined ? msg.tool : `${msg.server}.${msg.tool}`,
        codex_arguments: msg.arguments,
      }
    case "request_permissions":
      return {
        codex_tool: "request_permissions",
        codex_arguments: msg.permissions,
        codex_cwd: msg.cwd,
      }
  }
}
