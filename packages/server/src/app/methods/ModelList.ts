/** `model/list`: the models that the configuration names, the one in effect first. */
import { present } from "@colloquy/protocol/app/Fields"
import type { ModelEntry, ModelList } from "@colloquy/protocol/app/Host"
import { ReasoningEffort } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { cannotReadConfig, invalidRequest } from "../AppErrors.ts"
import { settingsOf } from "../ConversationResult.ts"
import { UserConfig } from "../ports/UserConfigPort.ts"

const defaultPageSize = 25

const efforts = {
  none: "Does not think.",
  minimal: "Answers soonest.",
  low: "Thinks a little.",
  medium: "Thinks as much as most tasks need.",
  high: "Thinks longest.",
  xhigh: "Thinks longer than `high` where the model can.",
} as const satisfies Record<ReasoningEffort, string>

/** Clients of every version can read these; the others are listed only where they are configured. */
const listed: ReadonlySet<ReasoningEffort> = new Set(["minimal", "low", "medium", "high"])

const entryOf = (
  model: string,
  { effort, from }: { readonly effort: ReasoningEffort | undefined; readonly from: string },
  isDefault: boolean,
): ModelEntry => ({
  id: model,
  model,
  displayName: model,
  description: from,
  supportedReasoningEfforts: ReasoningEffort.literals
    .filter((one) => listed.has(one) || one === effort)
    .map((reasoningEffort) => ({ reasoningEffort, description: efforts[reasoningEffort] })),
  defaultReasoningEffort: effort ?? "medium",
  isDefault,
})

/** The model in effect, and then those of the profiles, each once. */
export const configuredModels = Effect.gen(function* () {
  const { effort: current, model: inEffect } = yield* settingsOf({})
  const { profiles } = yield* Effect.mapError((yield* UserConfig).saved, cannotReadConfig)
  const models = new Map([
    [inEffect, entryOf(inEffect, { effort: current, from: "In effect." }, true)],
  ])
  for (const [name, { model, modelReasoningEffort }] of Object.entries(profiles)) {
    if (model === null || models.has(model)) continue
    const effort = modelReasoningEffort ?? undefined
    models.set(model, entryOf(model, { effort, from: `Of the profile ${name}.` }, false))
  }
  return [...models.values()]
})

/** Handler of the method. */
export const modelList: AppHandler<typeof ModelList> = Effect.fnUntraced(function* (params) {
  const { cursor = "0", pageSize = defaultPageSize } = present(params)
  if (!/^\d{1,9}$/.test(cursor)) {
    return yield* invalidRequest("params.cursor: expected `nextCursor` of an earlier page")
  }
  const start = Number(cursor)
  const all = yield* configuredModels
  const items = all.slice(start, start + pageSize)
  const next = start + items.length
  return { items, ...(items.length > 0 && next < all.length ? { nextCursor: String(next) } : {}) }
})
