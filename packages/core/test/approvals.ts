/** Requests and inputs for the tests of approvals. */
import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import type {
  ApprovalRequest,
  ExecApproval,
  PatchApproval,
  ToolApproval,
} from "../src/approvals/Approval.ts"
import type { Input } from "../src/decider/Decision.ts"
import type { QuestionSettings } from "../src/question/ApprovalEffect.ts"
import { reasonText } from "../src/question/QuestionText.ts"
import { submit } from "./decisions.ts"
import { settings as conversationSettings } from "./support.ts"

export const exec = (callId: string, fields: Partial<ExecApproval> = {}): ExecApproval => ({
  _tag: "Exec",
  callId,
  command: ["git", "push"],
  cwd: "/work",
  sandbox: { mode: "danger-full-access" },
  ...fields,
})

export const patch = (callId: string, fields: Partial<PatchApproval> = {}): PatchApproval => ({
  _tag: "Patch",
  callId,
  changes: { "/work/a": { add: { content: "x" } } },
  ...fields,
})

export const tool = (callId: string, fields: Partial<ToolApproval> = {}): ToolApproval => ({
  _tag: "Tool",
  callId,
  tool: "refund",
  arguments: { order: "A1", cents: 1200 },
  ...fields,
})

export const asks = (number: number, request: ApprovalRequest, turnId = "a"): Input => ({
  _tag: "Ask",
  turnId,
  number,
  request,
})

export const execAnswer = (id: string, decision: ReviewDecision) =>
  submit({ type: "exec_approval", id, decision })
export const patchAnswer = (id: string, decision: ReviewDecision) =>
  submit({ type: "patch_approval", id, decision })
export const toolAnswer = (id: string, decision: ReviewDecision) =>
  submit({ type: "tool_approval", id, decision })

export const requested = (
  callId: string,
  settings: QuestionSettings = conversationSettings,
): EventMsg => ({
  type: "exec_approval_request",
  call_id: callId,
  command: ["git", "push"],
  cwd: "/work",
  reason: reasonText(exec(callId), settings),
})

export const resolved = (
  callId: string,
  decision: ReviewDecision,
  reason: EventOf<"approval_resolved">["reason"],
  grant?: string,
): EventMsg => ({
  type: "approval_resolved",
  call_id: callId,
  decision,
  reason,
  ...(grant === undefined ? {} : { grant }),
})

/** The grant that the session keeps once `exec` is approved for the session. */
export const execGrant =
  '{"command":["git","push"],"cwd":"/work","sandbox":{"mode":"danger-full-access"}}'
