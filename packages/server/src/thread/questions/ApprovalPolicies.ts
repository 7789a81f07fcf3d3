/**
 * The approval policies of this dialect and those of the core. `granular` is the policy `on-request` of the core without the
 * questions that are switched off. Pure.
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { ApprovalQuestions, AskForApproval as CorePolicy } from "@colloquy/protocol/Policy"
import type { AskForApproval, AskForApprovalParam } from "@colloquy/protocol/thread/Values"

/** What the core is to ask. */
export interface AskedQuestions {
  readonly approvalPolicy: CorePolicy
  /** Undefined: all that the policy asks. */
  readonly approvalQuestions: ApprovalQuestions | undefined
}

/** The policy of the core. A switch that may be absent is off then. */
export const corePolicy = (given: AskForApprovalParam): AskedQuestions => {
  if (typeof given === "string") return { approvalPolicy: given, approvalQuestions: undefined }
  const { mcp_elicitations, request_permissions, sandbox_approval } = given.granular
  return {
    approvalPolicy: "on-request",
    approvalQuestions: {
      sandbox: sandbox_approval,
      permissions: request_permissions ?? false,
      tool_servers: mcp_elicitations,
    },
  }
}

/** The policy as clients of this dialect read it. The questions that no tool here has are reported as not asked. */
export const shownPolicy = ({
  approvalPolicy,
  approvalQuestions: allowed,
}: Pick<ConversationSettings, "approvalPolicy" | "approvalQuestions">): AskForApproval =>
  allowed === undefined
    ? approvalPolicy
    : {
        granular: {
          sandbox_approval: allowed.sandbox,
          rules: false,
          skill_approval: false,
          request_permissions: allowed.permissions,
          mcp_elicitations: allowed.tool_servers,
        },
      }
