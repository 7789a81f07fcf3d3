/**
 * The value of `approval_policy`: a name, or the table `granular` with a switch for each kind of question. Pure.
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { AskForApproval, granularPolicy } from "@colloquy/protocol/Policy"
import * as Schema from "effect/Schema"
import { keyOr } from "./KeySchemas.ts"

const off = (description: string) => keyOr(Schema.Boolean, false, description)

const isAsked = (description: string) => Schema.Boolean.annotate({ description })

/** The switches. Those without a default must be set, as in the original. */
const Granular = Schema.Struct({
  sandbox_approval: isAsked(
    "Whether a command may run, or a patch be written, without the sandbox.",
  ),
  rules: isAsked("Read and not used here."),
  skill_approval: off("Read and not used here."),
  request_permissions: off("Whether commands and patches get further permissions."),
  mcp_elicitations: isAsked(
    "Whether a tool of a tool server may be called, and what a tool server asks.",
  ),
})

/** The schema of the value. */
export const ConfiguredApprovalPolicy = Schema.Union([
  AskForApproval,
  Schema.Struct({ granular: Granular }),
])
/** A decoded `ConfiguredApprovalPolicy`. */
export type ConfiguredApprovalPolicy = typeof ConfiguredApprovalPolicy.Type

/** The settings that the value sets. A policy with a name allows all its questions. */
export const approvalSettings = (
  policy: ConfiguredApprovalPolicy,
): Pick<ConversationSettings, "approvalPolicy" | "approvalQuestions"> =>
  typeof policy === "string" ? { approvalPolicy: policy } : granularPolicy(policy.granular)
