/** Enumerations and policies of the core protocol (§4.2, §4.3). */
import * as Schema from "effect/Schema"

/** When a person is asked before something runs. */
export const AskForApproval = Schema.Literals(["untrusted", "on-failure", "on-request", "never"])
export type AskForApproval = typeof AskForApproval.Type

export const SandboxMode = Schema.Literals(["read-only", "workspace-write", "danger-full-access"])
export type SandboxMode = typeof SandboxMode.Type

/** What configuration may say: also that the process runs in a container that confines it. */
export const ConfiguredSandboxMode = Schema.Literals([...SandboxMode.literals, "external-sandbox"])
export type ConfiguredSandboxMode = typeof ConfiguredSandboxMode.Type

export const ReviewDecision = Schema.Literals([
  "approved",
  "approved_for_session",
  "denied",
  "abort",
])
export type ReviewDecision = typeof ReviewDecision.Type

/** `none` and `xhigh` came with later versions of the original. */
export const ReasoningEffort = Schema.Literals([
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
])
export type ReasoningEffort = typeof ReasoningEffort.Type

export const ReasoningSummary = Schema.Literals(["auto", "concise", "detailed", "none"])
export type ReasoningSummary = typeof ReasoningSummary.Type

export const Verbosity = Schema.Literals(["low", "medium", "high"])
export type Verbosity = typeof Verbosity.Type

export const TurnAbortReason = Schema.Literals(["interrupted", "replaced", "review_ended"])
export type TurnAbortReason = typeof TurnAbortReason.Type

/** Absent booleans and roots read as false and none; the booleans are always written (§4.3). */
export const SandboxPolicy = Schema.Union([
  Schema.Struct({ mode: Schema.Literal("danger-full-access") }),
  Schema.Struct({ mode: Schema.Literal("read-only") }),
  Schema.Struct({
    mode: Schema.Literal("workspace-write"),
    writable_roots: Schema.optionalKey(Schema.Array(Schema.String)),
    network_access: Schema.optionalKey(Schema.Boolean),
    exclude_tmpdir_env_var: Schema.optionalKey(Schema.Boolean),
    exclude_slash_tmp: Schema.optionalKey(Schema.Boolean),
  }),
  /** Something outside confines the process, as a container does: nothing is confined here, writing is allowed. */
  Schema.Struct({
    mode: Schema.Literal("external-sandbox"),
    network_access: Schema.optionalKey(Schema.Boolean),
  }),
]).annotate({ identifier: "SandboxPolicy" })
export type SandboxPolicy = typeof SandboxPolicy.Type
