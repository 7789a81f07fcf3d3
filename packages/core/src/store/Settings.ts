/** Settings of a conversation as they are kept, and back. Pure. */
import * as Duration from "effect/Duration"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { StoredSettings } from "../StoredSettings.ts"

/** Members that are kept as they are. */
const kept = [
  "model",
  "cwd",
  "approvalPolicy",
  "sandboxPolicy",
  "summary",
  "effort",
  "verbosity",
  "baseInstructions",
  "developerInstructions",
  "compactPrompt",
  "includePlanTool",
  "includeApplyPatchTool",
  "includeViewImageTool",
  "includeWebSearchTool",
  "showRawReasoning",
  "contextWindow",
  "autoCompactTokenLimit",
  "onRestart",
] as const satisfies ReadonlyArray<keyof ConversationSettings & keyof StoredSettings>

type Kept = Pick<ConversationSettings, (typeof kept)[number]>

/** Members that are there. */
const pick = (settings: ConversationSettings): Kept => {
  const picked: Record<string, unknown> = {}
  for (const name of kept) if (settings[name] !== undefined) picked[name] = settings[name]
  // By the names above it has what `Kept` has.
  return picked as unknown as Kept
}

export const toStored = (settings: ConversationSettings): StoredSettings => {
  const { approvalDeadline, killGrace, provider, unattended } = settings
  return {
    ...pick(settings),
    provider: provider.id,
    ...(killGrace === undefined ? {} : { killGraceMs: Duration.toMillis(killGrace) }),
    ...(approvalDeadline === undefined
      ? {}
      : { approvalDeadlineMs: Duration.toMillis(approvalDeadline) }),
    ...(unattended === "deny" || unattended === "park" ? { unattended } : {}),
  }
}

/** `settings` with what was kept; the provider, and whatever is not kept, is that of `settings`. */
export const withStored = (
  settings: ConversationSettings,
  stored: StoredSettings,
): ConversationSettings => {
  // What was not set then is not set now.
  const { effort: _, verbosity: __, resumePath: ___, ...rest } = settings
  const { approvalDeadlineMs, killGraceMs, provider: ____, unattended, ...members } = stored
  return {
    ...rest,
    ...members,
    ...(killGraceMs === undefined ? {} : { killGrace: Duration.millis(killGraceMs) }),
    ...(approvalDeadlineMs === undefined
      ? {}
      : { approvalDeadline: Duration.millis(approvalDeadlineMs) }),
    ...(unattended === undefined ? {} : { unattended }),
  }
}
