/** Converts the settings of a conversation to stored ones and back. Pure. */
import { defined } from "@colloquy/protocol/Defined"
import * as Duration from "effect/Duration"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { StoredSettings } from "../StoredSettings.ts"

/** Members that are stored unchanged. */
const kept = [
  "model",
  "cwd",
  "approvalPolicy",
  "approvalQuestions",
  "sandboxPolicy",
  "summary",
  "effort",
  "verbosity",
  "outputSchema",
  "baseInstructions",
  "developerInstructions",
  "collaborationMode",
  "compactPrompt",
  "includePlanTool",
  "includeApplyPatchTool",
  "includeViewImageTool",
  "includeWebSearchTool",
  "includeUserInputTool",
  "includeEnvironmentContext",
  "showRawReasoning",
  "contextWindow",
  "autoCompactTokenLimit",
  "onRestart",
  "toolServerApproval",
  "clientTools",
] as const satisfies ReadonlyArray<keyof ConversationSettings & keyof StoredSettings>

type Kept = Pick<ConversationSettings, (typeof kept)[number]>

/** The members above that are set. */
const pick = (settings: ConversationSettings): Kept => {
  const picked: Record<string, unknown> = {}
  for (const name of kept) if (settings[name] !== undefined) picked[name] = settings[name]
  // The names above are those of `Kept`.
  return picked as unknown as Kept
}

/** The part of the settings that is stored. */
export const toStored = (settings: ConversationSettings): StoredSettings => {
  const { approvalDeadline, killGrace, provider, unattended } = settings
  return {
    ...pick(settings),
    provider: provider.id,
    ...defined({
      killGraceMs: killGrace && Duration.toMillis(killGrace),
      approvalDeadlineMs: approvalDeadline && Duration.toMillis(approvalDeadline),
      unattended: unattended === "deny" || unattended === "park" ? unattended : undefined,
    }),
  }
}

/** `settings` with the stored members. The provider and everything that is not stored come from `settings`. */
export const withStored = (
  settings: ConversationSettings,
  stored: StoredSettings,
): ConversationSettings => {
  // An optional member that is not stored was not set.
  const {
    effort: _,
    verbosity: __,
    outputSchema: ___,
    resumePath: ____,
    history: _____,
    approvalQuestions: ______,
    ...rest
  } = settings
  const { approvalDeadlineMs, killGraceMs, provider: _______, unattended, ...members } = stored
  return {
    ...rest,
    ...members,
    ...defined({
      killGrace: killGraceMs === undefined ? undefined : Duration.millis(killGraceMs),
      approvalDeadline:
        approvalDeadlineMs === undefined ? undefined : Duration.millis(approvalDeadlineMs),
      unattended,
    }),
  }
}
