/** Methods of app-server v2 that list what a client offers to choose from: models, modes and sets of permissions. */
import * as Schema from "effect/Schema"
import { SystemText } from "../text/SystemText.ts"
import { request } from "../Method.ts"
import { maybe, none, Open, orNull, pageParams } from "./Values.ts"

/** One model of a provider. */
export const Model = Schema.Struct({
  id: Schema.String,
  /** What settings name it by. */
  model: Schema.String,
  upgrade: orNull(Schema.String),
  upgradeInfo: orNull(Open),
  /** What a client tells a user who may use the model for the first time. */
  availabilityNux: orNull(Schema.Struct({ message: Schema.String })),
  displayName: Schema.String,
  description: Schema.String,
  modelSpecialty: orNull(Schema.String),
  /** True: a client offers it only to users who ask for all. */
  hidden: Schema.Boolean,
  supportedReasoningEfforts: Schema.Array(
    Schema.Struct({ reasoningEffort: Schema.String, description: Schema.String }),
  ),
  defaultReasoningEffort: Schema.String,
  /** `text`, `image` … */
  inputModalities: Schema.Array(Schema.String),
  supportsPersonality: Schema.Boolean,
  multiAgentVersion: orNull(Schema.String),
  additionalSpeedTiers: Schema.Array(Schema.String),
  serviceTiers: Schema.Array(
    Schema.Struct({ id: Schema.String, name: Schema.String, description: Schema.String }),
  ),
  defaultServiceTier: orNull(Schema.String),
  availableAccessPrograms: none,
  isDefault: Schema.Boolean,
}).annotate({ identifier: "Model" })
/** A decoded `Model`. */
export type Model = typeof Model.Type

/** Lists models. */
export const ModelList = request("model/list", {
  params: Schema.Struct({
    modelProvider: maybe(Schema.String),
    ...pageParams,
    /** True: hidden ones too. Default false. */
    includeHidden: maybe(Schema.Boolean),
  }),
  result: Schema.Struct({
    data: Schema.Array(Model),
    nextCursor: orNull(Schema.String),
  }),
  since: "0.58",
  doc: "Lists the known models of a provider, by default of the active one, in pages.",
})

/** Lists the modes of working with the user. */
export const CollaborationModeList = request("collaborationMode/list", {
  params: Schema.Struct({}),
  result: Schema.Struct({
    data: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        mode: Schema.Literals(["plan", "default"]),
        model: orNull(Schema.String),
        reasoning_effort: orNull(Schema.String),
      }),
    ),
  }),
  experimental: true,
  since: "0.92",
  doc: "Lists the modes in which the agent can work with the user.",
})

/** Lists the sets of permissions. */
export const PermissionProfileList = request("permissionProfile/list", {
  params: Schema.Struct({ cwd: maybe(SystemText), ...pageParams }),
  result: Schema.Struct({
    data: Schema.Array(
      Schema.Struct({
        /** Built-in ones begin with a colon: `:read-only`, `:workspace`, `:danger-full-access`. */
        id: Schema.String,
        description: orNull(Schema.String),
        /** False: the configuration forbids it. */
        allowed: Schema.Boolean,
      }),
    ),
    nextCursor: orNull(Schema.String),
  }),
  since: "0.153",
  doc: "Lists the sets of permissions that threads and turns can be given.",
})
