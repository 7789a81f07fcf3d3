/**
 * From the core's questions to the params of this dialect's requests. Approvals have two spellings, camelCase and
 * snake_case, and the client chooses one in `initialize` (packages/docs/wire/app-server.md). Pure.
 */
import { shownReason } from "@colloquy/core/question/QuestionText"
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
 * Params of `execCommandApproval` for a tool of the application: the dialect has no request of its own for it, and every
 * client shows the words of a command. Such a call has no directory.
 */
export const toolParams = (
  conversationId: string,
  { arguments: args, call_id, reason, tool }: EventOf<"tool_approval_request">,
  form: ApprovalForm,
): Params<typeof ExecCommandApproval> =>
  execParams(
    conversationId,
    {
      type: "exec_approval_request",
      call_id,
      command: [tool, JSON.stringify(args) ?? "null"],
      cwd: "/",
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

/** Params of `elicitationRequest`, which has one spelling. */
export const formParams = (
  conversationId: string,
  { id, message, requested_schema, server_name }: EventOf<"elicitation_request">,
): Params<typeof ElicitationRequest> => ({
  conversationId,
  elicitationId: id,
  serverName: server_name,
  message: shownReason(message),
  requestedSchema: requested_schema,
})
