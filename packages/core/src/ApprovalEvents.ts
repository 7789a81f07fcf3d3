/** The events that put a question and tell what became of it. Pure. */
import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import type { ApprovalRequest, Verdict } from "./Approval.ts"

/** The event that puts the question. */
export const requestEvent = (request: ApprovalRequest): EventMsg => {
  const reason = request.reason === undefined ? {} : { reason: request.reason }
  return request._tag === "Exec"
    ? {
        type: "exec_approval_request",
        call_id: request.callId,
        command: request.command,
        cwd: request.cwd,
        ...reason,
      }
    : {
        type: "apply_patch_approval_request",
        call_id: request.callId,
        changes: request.changes,
        ...reason,
        ...(request.grantRoot === undefined ? {} : { grant_root: request.grantRoot }),
      }
}

export const resolvedEvent = (callId: string, verdict: Verdict, grant?: string): EventMsg => ({
  type: "approval_resolved",
  call_id: callId,
  ...verdict,
  ...(grant === undefined ? {} : { grant }),
})

export const isQuestion = (
  msg: EventMsg,
): msg is EventOf<"exec_approval_request"> | EventOf<"apply_patch_approval_request"> =>
  msg.type === "exec_approval_request" || msg.type === "apply_patch_approval_request"
