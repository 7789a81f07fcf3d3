/** Requests the approval of a person before something is done, and explains a denial to the model. */
import type { ApprovalRequest, Verdict } from "@colloquy/core/approvals/Approval"
import type { ToolContext } from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"

/** `rejected by user` is the text of the original. Where no person decided, the text gives the reason instead. */
const refusal = ({ reason }: Verdict): string => {
  switch (reason) {
    case "answered":
    case "granted":
      return "rejected by user"
    case "expired":
      return "rejected: the approval request timed out"
    case "unattended":
      return "rejected: no client is available to approve it"
    case "malformed":
    case "failed":
      return "rejected: the answer was invalid or the approval request failed"
    case "withdrawn":
    case "shutdown":
      return "rejected: the turn was stopped"
  }
}

/**
 * Resolves when a person has decided: undefined when approved, else the reason for the model, as the end of a sentence.
 */
export const requestApproval = (
  context: ToolContext,
  request: ApprovalRequest,
): Effect.Effect<string | undefined> =>
  Effect.map(context.approve(request), (verdict) =>
    verdict.decision === "approved" || verdict.decision === "approved_for_session"
      ? undefined
      : refusal(verdict),
  )
