/**
 * The approval policies of this dialect and those of the core. `granular` is the policy `on-request` of the core without the
 * questions that are switched off. Pure.
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import {
  type ApprovalQuestions,
  type AskForApproval as CorePolicy,
  granularPolicy,
} from "@colloquy/protocol/Policy"
import type { AskForApproval, AskForApprovalParam } from "@colloquy/protocol/thread/Values"

/** What the core is to ask. */
export interface AskedQuestions {
  readonly approvalPolicy: CorePolicy
  /** Undefined: all that the policy asks. */
  readonly approvalQuestions: ApprovalQuestions | undefined
}

/** The policy of the core. A switch that may be absent is off then. */
export const corePolicy = (given: AskForApprovalParam): AskedQuestions =>
  typeof given === "string"
    ? { approvalPolicy: given, approvalQuestions: undefined }
    : granularPolicy(given.granular)

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
