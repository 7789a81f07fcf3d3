/** The events that put a question and tell what became of it. Pure. */
import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import type { Verdict } from "./Approval.ts"
import type { QuestionRequest } from "./Elicitation.ts"

/** The event that puts the question. */
export const requestEvent = (request: QuestionRequest): EventMsg => {
  if (request._tag === "Elicitation") {
    return {
      type: "elicitation_request",
      server_name: request.server,
      id: request.callId,
      message: request.message,
      requested_schema: request.requestedSchema,
    }
  }
  const reason = request.reason === undefined ? {} : { reason: request.reason }
  return request._tag === "Exec"
    ? {
        type: "exec_approval_request",
        call_id: request.callId,
        command: request.command,
        cwd: request.cwd,
        ...reason,
        ...(request.parsedCommand === undefined ? {} : { parsed_cmd: request.parsedCommand }),
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

type QuestionMsg = EventOf<
  "exec_approval_request" | "apply_patch_approval_request" | "elicitation_request"
>

export const isQuestion = (msg: EventMsg): msg is QuestionMsg =>
  msg.type === "exec_approval_request" ||
  msg.type === "apply_patch_approval_request" ||
  msg.type === "elicitation_request"

/** What `approval_resolved` calls it by. */
export const questionId = (msg: QuestionMsg): string =>
  msg.type === "elicitation_request" ? msg.id : msg.call_id

/** What closes a question whose asker is gone (L7). */
export const withdrawnEvent = (msg: QuestionMsg): EventMsg =>
  resolvedEvent(questionId(msg), { decision: "denied", reason: "withdrawn" })

/** The question as its event tells it; of the sandbox of a command it says nothing. */
export const requestOf = (msg: QuestionMsg, sandbox?: SandboxPolicy): QuestionRequest => {
  if (msg.type === "elicitation_request") {
    const { id: callId, message, requested_schema: requestedSchema, server_name: server } = msg
    return { _tag: "Elicitation", callId, server, message, requestedSchema }
  }
  const reason = msg.reason === undefined ? {} : { reason: msg.reason }
  return msg.type === "exec_approval_request"
    ? {
        _tag: "Exec",
        callId: msg.call_id,
        command: msg.command,
        cwd: msg.cwd,
        // The narrowest: what is approved for the session then covers the least.
        sandbox: sandbox ?? { mode: "read-only" },
        ...reason,
        ...(msg.parsed_cmd === undefined ? {} : { parsedCommand: msg.parsed_cmd }),
      }
    : {
        _tag: "Patch",
        callId: msg.call_id,
        changes: msg.changes,
        ...reason,
        ...(msg.grant_root === undefined ? {} : { grantRoot: msg.grant_root }),
      }
}
