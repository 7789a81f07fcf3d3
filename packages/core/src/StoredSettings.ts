/**
 * What of a conversation's settings is kept with it, so that it goes on as it was in another process. Plain data
 * without secrets: the provider stands here by its id alone, tool servers and what commands see of the environment not
 * at all; those come from the configuration of the process that takes it up (`SettingsResolver.restore`).
 */
import {
  AskForApproval,
  ReasoningEffort,
  ReasoningSummary,
  SandboxPolicy,
  Verbosity,
} from "@colloquy/protocol/Policy"
import * as Schema from "effect/Schema"

export const StoredSettings = Schema.Struct({
  model: Schema.String,
  /** Its key under `model_providers`, or a built-in id. */
  provider: Schema.String,
  /** Absolute. */
  cwd: Schema.String,
  approvalPolicy: AskForApproval,
  sandboxPolicy: SandboxPolicy,
  summary: ReasoningSummary,
  effort: Schema.optionalKey(ReasoningEffort),
  verbosity: Schema.optionalKey(Verbosity),
  baseInstructions: Schema.optionalKey(Schema.String),
  developerInstructions: Schema.optionalKey(Schema.String),
  compactPrompt: Schema.optionalKey(Schema.String),
  autoCompactTokenLimit: Schema.optionalKey(Schema.Int),
  includePlanTool: Schema.optionalKey(Schema.Boolean),
  includeApplyPatchTool: Schema.optionalKey(Schema.Boolean),
  includeViewImageTool: Schema.optionalKey(Schema.Boolean),
  includeWebSearchTool: Schema.optionalKey(Schema.Boolean),
  showRawReasoning: Schema.optionalKey(Schema.Boolean),
  /** In tokens; null: not known. */
  contextWindow: Schema.optionalKey(Schema.NullOr(Schema.Int)),
  killGraceMs: Schema.optionalKey(Schema.Finite),
  approvalDeadlineMs: Schema.optionalKey(Schema.Finite),
  /** A rule of an embedding application is code: it is not kept. */
  unattended: Schema.optionalKey(Schema.Literals(["deny", "park"])),
  onRestart: Schema.optionalKey(Schema.Literals(["close", "continue"])),
})
export type StoredSettings = typeof StoredSettings.Type
