/** What an agent is made of, without the types of its tools: what the code behind `open` works with. */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import { withStored } from "@colloquy/core/store/Settings"
import type { StoredSettings } from "@colloquy/core/StoredSettings"
import { contextWindowOf } from "@colloquy/core/turn/ModelFamily"
import { defined } from "@colloquy/protocol/Defined"
import type { ReasoningEffort, Verbosity } from "@colloquy/protocol/Policy"
import type * as Duration from "effect/Duration"
import * as Equal from "effect/Equal"
import type * as Layer from "effect/Layer"
import type { OnApproval } from "../Approval.ts"
import type { Budget } from "../Budget.ts"
import type { Machine } from "../Machine.ts"
import type { Model } from "../Model.ts"
import type { AnyTools } from "../Tool.ts"

/** Any policy of an agent. */
export type AnyOnApproval = OnApproval<never, unknown>

/** The parts of an agent. */
export interface AgentDefinition {
  readonly name: string
  readonly version: string
  readonly description: string | undefined
  readonly instructions: string
  readonly model: Model<unknown, unknown>
  readonly tools: ReadonlyArray<AnyTools>
  /** The tools of this machine; undefined: none. */
  readonly machine: Machine | undefined
  readonly store: Layer.Layer<ConversationStore, unknown, unknown>
  readonly onApproval: AnyOnApproval | undefined
  readonly budget: Budget
  readonly onRestart: "close" | "continue"
  readonly approvalDeadline: Duration.Duration | undefined
  readonly effort: ReasoningEffort | undefined
  readonly verbosity: Verbosity | undefined
  /** How long a conversation without an open chat stays in memory. Undefined: the default of the core. */
  readonly idleTimeToLive: Duration.Duration | undefined
}

/**
 * The settings of its conversations. Without a machine there is no directory, no sandbox and no environment that the
 * model knows of. A tool asks whenever its definition says so.
 */
export const settingsOf = (definition: AgentDefinition): ConversationSettings => {
  const { approvalDeadline, effort, instructions, model, onRestart, verbosity } = definition
  const machine = definition.machine?.["~colloquy/agent/Machine"]
  return {
    model: model.name,
    provider: model.provider,
    cwd: machine?.cwd ?? "/",
    approvalPolicy: machine?.approvalPolicy ?? "on-request",
    sandboxPolicy: machine?.sandboxPolicy ?? { mode: "read-only" },
    baseInstructions: instructions,
    includeEnvironmentContext: machine !== undefined,
    includePlanTool: machine !== undefined,
    includeApplyPatchTool: machine !== undefined,
    includeViewImageTool: machine !== undefined,
    summary: "auto",
    contextWindow: contextWindowOf(model.name),
    showRawReasoning: false,
    unattended: "deny",
    onRestart,
    // No command of the machine sees the key of the model.
    ...(model.provider.envKey === undefined ? {} : { secretNames: [model.provider.envKey] }),
    ...defined({ approvalDeadline, effort, verbosity }),
  }
}

/** True where both have the same directory and the same rules for what is done there. */
export const samePlace = (a: ConversationSettings, b: ConversationSettings): boolean =>
  a.cwd === b.cwd &&
  a.approvalPolicy === b.approvalPolicy &&
  Equal.equals(a.sandboxPolicy, b.sandboxPolicy)

/**
 * The settings of a stored conversation as it is loaded. The tools that its model is offered are those that the agent has
 * now. Its directory and its rules are those it had, until `open` replaces them and tells the model; a turn that was cut
 * off under other rules is not continued.
 */
export const resumedSettings = (
  current: ConversationSettings,
  stored: StoredSettings,
): ConversationSettings => {
  const before = withStored(current, stored)
  const onRestart = samePlace(before, current) ? current.onRestart : "close"
  return {
    ...before,
    ...defined({
      onRestart,
      includeEnvironmentContext: current.includeEnvironmentContext,
      includePlanTool: current.includePlanTool,
      includeApplyPatchTool: current.includeApplyPatchTool,
      includeViewImageTool: current.includeViewImageTool,
    }),
  }
}
