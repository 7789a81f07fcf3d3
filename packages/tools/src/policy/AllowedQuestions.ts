/** Which questions to a person the settings of a conversation allow. Pure. */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { ApprovalQuestions, AskForApproval } from "@colloquy/protocol/Policy"

type Settings = Pick<ConversationSettings, "approvalPolicy" | "approvalQuestions">

/** The approval policy for questions of that kind: `never` where the settings allow none. */
export const policyFor = (
  { approvalPolicy, approvalQuestions }: Settings,
  kind: keyof ApprovalQuestions,
): AskForApproval => (approvalQuestions?.[kind] === false ? "never" : approvalPolicy)

/** Why a call of a tool server, which needs an approval, is not made where the settings allow no question about it. */
export const toolServersRefused =
  "rejected: the approval policy allows no question about tool servers"
