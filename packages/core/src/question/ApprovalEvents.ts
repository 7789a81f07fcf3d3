/** The events that ask a question and report its verdict. Pure. */
import { defined } from "@colloquy/protocol/Defined"
import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import type { ApprovalRequest, Verdict } from "../approvals/Approval.ts"
import type { ClientCallRequest, QuestionKind, QuestionRequest } from "../approvals/Elicitation.ts"
import type { QuestionSettings } from "./ApprovalEffect.ts"
import { formText } from "./FormText.ts"
import { formMessage, reasonText } from "./QuestionText.ts"

const formEvent = ({
  callId: id,
  message,
  requestedSchema,
  server,
}: Extract<QuestionRequest, { readonly _tag: "Elicitation" }>): EventMsg => ({
  type: "elicitation_request",
  server_name: server,
  id,
  message: formMessage(server, message),
  requested_schema: formText(requestedSchema),
})

/**
 * The event that asks the question. `reason`, and the message and form of a tool server, are for a person and contain
 * foreign text only in quotes; command, directory, changes and names of members are for programs and are unchanged.
 */
export const requestEvent = (request: QuestionRequest, settings: QuestionSettings): EventMsg => {
  switch (request._tag) {
    case "Elicitation":
      return formEvent(request)
    case "UserInput": {
      const { callId: call_id, questions } = request
      return { type: "request_user_input", call_id, questions }
    }
    case "ClientCall":
      return callEvent(request)
    case "Exec":
      return {
        type: "exec_approval_request",
        call_id: request.callId,
        command: request.command,
        cwd: request.cwd,
        reason: reasonText(request, settings),
        ...defined({ parsed_cmd: request.parsedCommand }),
      }
    case "Patch":
      return {
        type: "apply_patch_approval_request",
        call_id: request.callId,
        changes: request.changes,
        reason: reasonText(request, settings),
        ...defined({ grant_root: request.grantRoot }),
      }
    case "Tool":
      return toolEvent(request, settings)
    case "Permissions":
      return permissionsEvent(request, settings)
  }
}

const toolEvent = (
  request: Extract<QuestionRequest, { readonly _tag: "Tool" }>,
  settings: QuestionSettings,
): EventMsg => ({
  type: "tool_approval_request",
  call_id: request.callId,
  tool: request.tool,
  ...defined({ server: request.server }),
  arguments: request.arguments,
  ...defined({ annotations: request.annotations }),
  reason: reasonText(request, settings),
})

const permissionsEvent = (
  request: Extract<QuestionRequest, { readonly _tag: "Permissions" }>,
  settings: QuestionSettings,
): EventMsg => ({
  type: "request_permissions",
  call_id: request.callId,
  permissions: request.permissions,
  cwd: request.cwd,
  reason: reasonText(request, settings),
  ...defined({ justification: request.justification }),
})

const callEvent = ({ arguments: args, callId, namespace, tool }: ClientCallRequest): EventMsg => ({
  type: "client_tool_call",
  call_id: callId,
  tool,
  ...defined({ namespace }),
  arguments: args,
})

/** The event with the verdict. */
export const resolvedEvent = (callId: string, verdict: Verdict, grant?: string): EventMsg => ({
  type: "approval_resolved",
  call_id: callId,
  ...verdict,
  ...defined({ grant }),
})

type QuestionMsg = EventOf<
  | "exec_approval_request"
  | "apply_patch_approval_request"
  | "tool_approval_request"
  | "elicitation_request"
  | "client_tool_call"
  | "request_user_input"
  | "request_permissions"
>

/** True for an event that asks a question. */
export const isQuestion = (msg: EventMsg): msg is QuestionMsg =>
  msg.type === "exec_approval_request" ||
  msg.type === "apply_patch_approval_request" ||
  msg.type === "tool_approval_request" ||
  msg.type === "elicitation_request" ||
  msg.type === "request_user_input" ||
  msg.type === "request_permissions" ||
  msg.type === "client_tool_call"

/** What the question of an event needs of a listener. */
export const questionKindOf = ({ type }: Pick<EventMsg, "type">): QuestionKind => {
  switch (type) {
    case "elicitation_request":
    case "request_user_input":
      return "form"
    case "client_tool_call":
      return "call"
    default:
      return "approval"
  }
}

/** The id that `approval_resolved` names. */
export const questionId = (msg: QuestionMsg): string =>
  msg.type === "elicitation_request" ? msg.id : msg.call_id

/** The event that withdraws a question whose tool does not run any more (L7). */
export const withdrawnEvent = (msg: QuestionMsg): EventMsg =>
  resolvedEvent(questionId(msg), { decision: "denied", reason: "withdrawn" })

/** The question that an event asks. The event does not contain the sandbox of a command. */
export const requestOf = (msg: QuestionMsg, sandbox?: SandboxPolicy): QuestionRequest => {
  if (msg.type === "elicitation_request") {
    const { id: callId, message, requested_schema: requestedSchema, server_name: server } = msg
    return { _tag: "Elicitation", callId, server, message, requestedSchema }
  }
  if (msg.type === "client_tool_call") {
    const { arguments: args, call_id: callId, namespace, tool } = msg
    return { _tag: "ClientCall", callId, tool, ...defined({ namespace }), arguments: args }
  }
  if (msg.type === "request_user_input") {
    return { _tag: "UserInput", callId: msg.call_id, questions: msg.questions }
  }
  return approvalOf(msg, sandbox)
}

const permissionsOf = (msg: EventOf<"request_permissions">): ApprovalRequest => {
  const { call_id: callId, cwd, justification, permissions, reason } = msg
  return { _tag: "Permissions", callId, permissions, cwd, ...defined({ reason, justification }) }
}

const approvalOf = (
  msg: EventOf<
    | "exec_approval_request"
    | "apply_patch_approval_request"
    | "tool_approval_request"
    | "request_permissions"
  >,
  sandbox: SandboxPolicy | undefined,
): ApprovalRequest => {
  const { call_id: callId, reason } = msg
  switch (msg.type) {
    case "exec_approval_request":
      return {
        _tag: "Exec",
        callId,
        command: msg.command,
        cwd: msg.cwd,
        // The narrowest policy: an approval for the session then covers the least.
        sandbox: sandbox ?? { mode: "read-only" },
        ...defined({ reason, parsedCommand: msg.parsed_cmd }),
      }
    case "apply_patch_approval_request":
      return {
        _tag: "Patch",
        callId,
        changes: msg.changes,
        ...defined({ reason, grantRoot: msg.grant_root }),
      }
    case "tool_approval_request":
      return {
        _tag: "Tool",
        callId,
        tool: msg.tool,
        arguments: msg.arguments,
        ...defined({ server: msg.server, annotations: msg.annotations, reason }),
      }
    case "request_permissions":
      return permissionsOf(msg)
  }
}
