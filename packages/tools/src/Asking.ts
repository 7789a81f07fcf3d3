/** Asking a person before something is done, and what the model is told when it is not. */
import type { ApprovalRequest, Verdict } from "@colloquy/core/approvals/Approval"
import type { ToolContext } from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"

/** `rejected by user` is the original's; where no person said so, the model is told what did. */
const refusal = ({ reason }: Verdict): string => {
  switch (reason) {
    case "answered":
    case "granted":
      return "rejected by user"
    case "expired":
      return "rejected: nobody answered in time"
    case "unattended":
      return "rejected: nobody is there to approve it"
    case "malformed":
    case "failed":
      return "rejected: the answer could not be read or asking failed"
    case "withdrawn":
    case "shutdown":
      return "rejected: the turn was stopped"
  }
}

/** Undefined when it may be done, else how the model is told that it may not, to follow a noun. */
export const askFirst = (
  context: ToolContext,
  request: ApprovalRequest,
): Effect.Effect<string | undefined> =>
  Effect.map(context.approve(request), (verdict) =>
    verdict.decision === "approved" || verdict.decision === "approved_for_session"
      ? undefined
      : refusal(verdict),
  )
