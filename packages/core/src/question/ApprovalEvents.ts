/** The events that put a question and tell what became of it. Pure. */
import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import type { Verdict } from "../approvals/Approval.ts"
import type { QuestionRequest } from "../approvals/Elicitation.ts"
import type { QuestionSettings } from "./ApprovalEffect.ts"
import { formText } from "./FormText.ts"
import { formMessage, reasonText } from "./QuestionText.ts"

/**
 * The event that puts the question. Its `reason`, and message and form of a tool server, are for a person and hold no
 * raw foreign text; command, directory, changes and names of members are for programs and stay as they are.
 */
export const requestEvent = (request: QuestionRequest, settings: QuestionSettings): EventMsg => {
  switch (request._tag) {
    case "Elicitation":
      return {
        type: "elicitation_request",
        server_name: request.server,
        id: request.callId,
        message: formMessage(request.server, request.message),
        requested_schema: formText(request.requestedSchema),
      }
    case "Exec":
      return {
        type: "exec_approval_request",
        call_id: request.callId,
        command: request.command,
        cwd: request.cwd,
        reason: reasonText(request, settings),
        ...(request.parsedCommand === undefined ? {} : { parsed_cmd: request.parsedCommand }),
      }
    case "Patch":
      return {
        type: "apply_patch_approval_request",
        call_id: request.callId,
        changes: request.changes,
        reason: reasonText(request, settings),
        ...(request.grantRoot === undefined ? {} : { grant_root: request.grantRoot }),
      }
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
