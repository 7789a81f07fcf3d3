/**
 * From the core's questions to the params of this dialect's requests. Approvals have two spellings, camelCase and
 * snake_case, and the client chooses one in `initialize` (packages/docs/wire/app-server.md). Pure.
 */
import { shownReason } from "@colloquy/core/question/QuestionText"
import { userInputForm } from "@colloquy/core/question/UserInputForm"
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type {
  ApplyPatchApproval,
  ElicitationRequest,
  ExecCommandApproval,
} from "@colloquy/protocol/app/Approvals"
import type { ApprovalForm } from "@colloquy/protocol/app/Initialize"
import type { Params } from "@colloquy/protocol/Method"

/** Params of `execCommandApproval`. */
export const execParams = (
  conversationId: string,
  { call_id, command, cwd, parsed_cmd, reason }: EventOf<"exec_approval_request">,
  form: ApprovalForm,
): Params<typeof ExecCommandApproval> => {
  const because = reason === undefined ? {} : { reason: shownReason(reason) }
  return form === "snake_case"
    ? { conversation_id: conversationId, call_id, command, cwd, ...because }
    : { conversationId, callId: call_id, command, cwd, ...because, parsedCmd: parsed_cmd ?? [] }
}

/**
 * Params of `execCommandApproval` for a tool of the application or of a tool server: the dialect has no request of its own for it, and every
 * client shows the words of a command. Such a call has no directory.
 */
export const toolParams = (
  conversationId: string,
  { arguments: args, call_id, reason, server, tool }: EventOf<"tool_approval_request">,
  form: ApprovalForm,
): Params<typeof ExecCommandApproval> =>
  execParams(
    conversationId,
    {
      type: "exec_approval_request",
      call_id,
      command: [server === undefined ? tool : `${server}.${tool}`, JSON.stringify(args) ?? "null"],
      cwd: "/",
      ...(reason === undefined ? {} : { reason }),
    },
    form,
  )

/** Likewise, for further permissions. */
export const permissionsParams = (
  conversationId: string,
  { call_id, cwd, permissions, reason }: EventOf<"request_permissions">,
  form: ApprovalForm,
): Params<typeof ExecCommandApproval> =>
  execParams(
    conversationId,
    {
      type: "exec_approval_request",
      call_id,
      command: ["request_permissions", JSON.stringify(permissions)],
      cwd,
      ...(reason === undefined ? {} : { reason }),
    },
    form,
  )

/** Params of `applyPatchApproval`. Paths are absolute. */
export const patchParams = (
  conversationId: string,
  { call_id, changes, grant_root, reason }: EventOf<"apply_patch_approval_request">,
  form: ApprovalForm,
): Params<typeof ApplyPatchApproval> => {
  const because = reason === undefined ? {} : { reason: shownReason(reason) }
  return form === "snake_case"
    ? {
        conversation_id: conversationId,
        call_id,
        file_changes: changes,
        ...because,
        ...(grant_root === undefined ? {} : { grant_root }),
      }
    : {
        conversationId,
        callId: call_id,
        fileChanges: changes,
        ...because,
        ...(grant_root === undefined ? {} : { grantRoot: grant_root }),
      }
}

/** Params of `elicitationRequest`, which has one spelling. The agent's questions are a form, too. */
export const formParams = (
  conversationId: string,
  msg: EventOf<"elicitation_request" | "request_user_input">,
): Params<typeof ElicitationRequest> => {
  if (msg.type === "request_user_input") {
    const { server: serverName, message, requestedSchema } = userInputForm(msg.questions)
    const shown = shownReason(message)
    return {
      conversationId,
      elicitationId: msg.call_id,
      serverName,
      message: shown,
      requestedSchema,
    }
  }
  return {
    conversationId,
    elicitationId: msg.id,
    serverName: msg.server_name,
    message: shownReason(msg.message),
    requestedSchema: msg.requested_schema,
  }
}
