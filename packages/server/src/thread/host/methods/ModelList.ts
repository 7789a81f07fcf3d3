/** `model/list`: the models that the configuration names, the one in effect first. */
import { type Model, type ModelList } from "@colloquy/protocol/thread/Models"
import * as Effect from "effect/Effect"
import { configuredModels } from "../../../app/methods/ModelList.ts"
import { type HostHandler, pageOf } from "../HostCall.ts"

type Configured = Effect.Success<typeof configuredModels>[number]

const modelOf = (entry: Configured): Model => ({
  id: entry.id,
  model: entry.model,
  upgrade: null,
  upgradeInfo: null,
  availabilityNux: null,
  displayName: entry.displayName,
  description: entry.description,
  modelSpecialty: null,
  hidden: false,
  supportedReasoningEfforts: entry.supportedReasoningEfforts,
  defaultReasoningEffort: entry.defaultReasoningEffort,
  inputModalities: ["text", "image"],
  supportsPersonality: false,
  multiAgentVersion: null,
  additionalSpeedTiers: [],
  serviceTiers: [],
  defaultServiceTier: null,
  availableAccessPrograms: null,
  isDefault: entry.isDefault,
})

/** Handler of the method. */
export const modelList: HostHandler<typeof ModelList> = Effect.fnUntraced(function* (params) {
  const models = yield* configuredModels
  return yield* pageOf(models.map(modelOf), params)
})
