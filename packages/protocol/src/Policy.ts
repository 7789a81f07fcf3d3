/** Enumerations and policies that events, ops and methods share. */
import * as Schema from "effect/Schema"
import { SystemText } from "./text/SystemText.ts"

/**
 * When a person must approve a command: `untrusted`, before every command that is not known to be harmless; `on-failure`,
 * after a command failed in the sandbox; `on-request`, when the agent asks to leave the sandbox; `never`.
 */
export const AskForApproval = Schema.Literals(["untrusted", "on-failure", "on-request", "never"])
/** A decoded `AskForApproval`. */
export type AskForApproval = typeof AskForApproval.Type

/**
 * Which questions an approval policy allows. One that it does not allow is refused without asking a person; the rest of the
 * policy stays as it is.
 */
export const ApprovalQuestions = Schema.Struct({
  /** Whether a command may run, or a patch be written, without the sandbox. */
  sandbox: Schema.Boolean,
  /** Whether commands and patches get further permissions (`request_permissions`). */
  permissions: Schema.Boolean,
  /** Whether a tool of a tool server may be called, and what a tool server asks (`elicitation_request`). */
  tool_servers: Schema.Boolean,
})
/** A decoded `ApprovalQuestions`. */
export type ApprovalQuestions = typeof ApprovalQuestions.Type

/** The questions of the policy `granular`, each switched on or off. An absent one is off. */
export interface ApprovalSwitches {
  readonly sandbox_approval: boolean
  readonly request_permissions?: boolean | null | undefined
  readonly mcp_elicitations: boolean
}

/** The policy `granular`: `on-request` without the questions that are switched off. */
export const granularPolicy = (switches: ApprovalSwitches) =>
  ({
    approvalPolicy: "on-request",
    approvalQuestions: {
      sandbox: switches.sandbox_approval,
      permissions: switches.request_permissions ?? false,
      tool_servers: switches.mcp_elicitations,
    } satisfies ApprovalQuestions,
  }) as const

/** How far commands are confined. */
export const SandboxMode = Schema.Literals(["read-only", "workspace-write", "danger-full-access"])
/** A decoded `SandboxMode`. */
export type SandboxMode = typeof SandboxMode.Type

/** Sandbox modes in the configuration: also `external-sandbox`, for a process that runs in a container. */
export const ConfiguredSandboxMode = Schema.Literals([...SandboxMode.literals, "external-sandbox"])
/** A decoded `ConfiguredSandboxMode`. */
export type ConfiguredSandboxMode = typeof ConfiguredSandboxMode.Type

/** The answer to an approval. `approved_for_session` also answers later identical questions; `abort` denies and interrupts the turn. */
export const ReviewDecision = Schema.Literals([
  "approved",
  "approved_for_session",
  "denied",
  "abort",
])
/** A decoded `ReviewDecision`. */
export type ReviewDecision = typeof ReviewDecision.Type

/** How much the model reasons. `none` and `xhigh` came with later versions of the original. */
export const ReasoningEffort = Schema.Literals([
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
])
/** A decoded `ReasoningEffort`. */
export type ReasoningEffort = typeof ReasoningEffort.Type

/** How detailed the summaries of reasoning are. */
export const ReasoningSummary = Schema.Literals(["auto", "concise", "detailed", "none"])
/** A decoded `ReasoningSummary`. */
export type ReasoningSummary = typeof ReasoningSummary.Type

/** How long the model's answers are. */
export const Verbosity = Schema.Literals(["low", "medium", "high"])
/** A decoded `Verbosity`. */
export type Verbosity = typeof Verbosity.Type

/** How the agent works with the person: `plan` agrees on a plan and changes nothing, `default` does what it is asked. */
export const CollaborationMode = Schema.Literals(["plan", "default"])
/** A decoded `CollaborationMode`. */
export type CollaborationMode = typeof CollaborationMode.Type

/**
 * When a call of a tool of a tool server needs the approval of a person: `approve` never, `prompt` always, `writes` where the
 * server does not say that the tool changes nothing, `auto` like `writes` unless the approval policy is `never`.
 */
export const ToolServerApproval = Schema.Literals(["approve", "prompt", "writes", "auto"])
/** A decoded `ToolServerApproval`. */
export type ToolServerApproval = typeof ToolServerApproval.Type

/** Why a turn ended before its answer. */
export const TurnAbortReason = Schema.Literals(["interrupted", "replaced", "review_ended"])
/** A decoded `TurnAbortReason`. */
export type TurnAbortReason = typeof TurnAbortReason.Type

/**
 * Permissions that a sandbox policy does not give. An absent member is none of its kind; paths are absolute, and a permission
 * for a directory is one for everything below it.
 */
export const FurtherPermissions = Schema.Struct({
  /** True: use the network. */
  network: Schema.optionalKey(Schema.Boolean),
  read: Schema.optionalKey(Schema.Array(Schema.String)),
  write: Schema.optionalKey(Schema.Array(Schema.String)),
})
/** A decoded `FurtherPermissions`. */
export type FurtherPermissions = typeof FurtherPermissions.Type

/** What commands may change. Absent booleans are false and absent roots are none; booleans are always written. */
export const SandboxPolicy = Schema.Union([
  Schema.Struct({ mode: Schema.Literal("danger-full-access") }),
  Schema.Struct({ mode: Schema.Literal("read-only") }),
  Schema.Struct({
    mode: Schema.Literal("workspace-write"),
    writable_roots: Schema.optionalKey(Schema.Array(SystemText)),
    network_access: Schema.optionalKey(Schema.Boolean),
    exclude_tmpdir_env_var: Schema.optionalKey(Schema.Boolean),
    exclude_slash_tmp: Schema.optionalKey(Schema.Boolean),
  }),
  /** The process is confined from outside, for example by a container: commands run unconfined and may write. */
  Schema.Struct({
    mode: Schema.Literal("external-sandbox"),
    network_access: Schema.optionalKey(Schema.Boolean),
  }),
]).annotate({ identifier: "SandboxPolicy" })
/** A decoded `SandboxPolicy`. */
export type SandboxPolicy = typeof SandboxPolicy.Type
