/**
 * The settings that are stored with a conversation, so that another process can resume it unchanged. Plain data without
 * secrets: the provider is stored by its id only; tool servers and the environment of commands are not stored, since they
 * come from the configuration of the process that loads the conversation (`SettingsResolver.resolve`).
 */
import {
  ApprovalQuestions,
  AskForApproval,
  CollaborationMode,
  ReasoningEffort,
  ReasoningSummary,
  SandboxPolicy,
  ToolServerApproval,
  Verbosity,
} from "@colloquy/protocol/Policy"
import * as Schema from "effect/Schema"
import { ClientTool } from "./ClientTool.ts"

/** Stored settings. An absent optional member was not set. */
export const StoredSettings = Schema.Struct({
  model: Schema.String,
  /** Key of the provider under `model_providers`, or a built-in id. */
  provider: Schema.String,
  /** Working directory. Absolute. */
  cwd: Schema.String,
  approvalPolicy: AskForApproval,
  approvalQuestions: Schema.optionalKey(ApprovalQuestions),
  sandboxPolicy: SandboxPolicy,
  summary: ReasoningSummary,
  effort: Schema.optionalKey(ReasoningEffort),
  verbosity: Schema.optionalKey(Verbosity),
  baseInstructions: Schema.optionalKey(Schema.String),
  developerInstructions: Schema.optionalKey(Schema.String),
  collaborationMode: Schema.optionalKey(
    Schema.Struct({
      mode: CollaborationMode,
      developerInstructions: Schema.optionalKey(Schema.String),
    }),
  ),
  compactPrompt: Schema.optionalKey(Schema.String),
  autoCompactTokenLimit: Schema.optionalKey(Schema.Int),
  includePlanTool: Schema.optionalKey(Schema.Boolean),
  includeApplyPatchTool: Schema.optionalKey(Schema.Boolean),
  includeViewImageTool: Schema.optionalKey(Schema.Boolean),
  includeWebSearchTool: Schema.optionalKey(Schema.Boolean),
  includeUserInputTool: Schema.optionalKey(Schema.Boolean),
  includeEnvironmentContext: Schema.optionalKey(Schema.Boolean),
  showRawReasoning: Schema.optionalKey(Schema.Boolean),
  /** In tokens; null when it is not known. */
  contextWindow: Schema.optionalKey(Schema.NullOr(Schema.Int)),
  outputSchema: Schema.optionalKey(Schema.Unknown),
  killGraceMs: Schema.optionalKey(Schema.Finite),
  approvalDeadlineMs: Schema.optionalKey(Schema.Finite),
  /** The rule of an embedding application is code and is not stored. */
  unattended: Schema.optionalKey(Schema.Literals(["deny", "park"])),
  toolServerApproval: Schema.optionalKey(ToolServerApproval),
  clientTools: Schema.optionalKey(Schema.Array(ClientTool)),
  onRestart: Schema.optionalKey(Schema.Literals(["close", "continue"])),
})
/** Stored settings. */
export type StoredSettings = typeof StoredSettings.Type
