/** Methods of app-server v2 that read and write config.toml. */
import * as Schema from "effect/Schema"
import { SystemText } from "../text/SystemText.ts"
import { request } from "../Method.ts"
import { maybe, Open, orNull } from "./Values.ts"

/** Where a value of the configuration comes from. */
export const ConfigLayerName = Schema.StructWithRest(
  Schema.Struct({
    /** `user`, `project`, `sessionFlags` … */
    type: Schema.String,
  }),
  [Open],
)

const origin = { name: ConfigLayerName, version: Schema.String }

/** Reads the configuration. */
export const ConfigRead = request("config/read", {
  params: Schema.Struct({
    /** True: the result has every layer by itself. Default false. */
    includeLayers: maybe(Schema.Boolean),
    /** The directory whose configuration is meant. */
    cwd: maybe(SystemText),
  }),
  result: Schema.Struct({
    /** The values in effect, with the keys of the file. */
    config: Open,
    /** The layer of each value, by its dotted key. */
    origins: Schema.Record(Schema.String, Schema.Struct(origin)),
    /** The layers, the strongest first; absent unless they were asked for. */
    layers: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          ...origin,
          config: Schema.Unknown,
          disabledReason: Schema.optionalKey(Schema.String),
        }),
      ),
    ),
  }),
  since: "0.64",
  doc: "Reads the configuration in effect, and where each value comes from.",
})

const edit = {
  /** Dotted. */
  keyPath: Schema.String,
  /** Null removes the key. */
  value: Schema.Unknown,
  /** `upsert` merges tables; `replace` replaces them. */
  mergeStrategy: Schema.Literals(["replace", "upsert"]),
}

const target = {
  /** Default, and the only one that is allowed: the file of the user. */
  filePath: maybe(SystemText),
  /** The version that the client has read; another one is an error. */
  expectedVersion: maybe(Schema.String),
}

const written = Schema.Struct({
  status: Schema.Literals(["ok", "okOverridden"]),
  /** Hash of the file. */
  version: Schema.String,
  filePath: Schema.String,
  /** What has more weight than the value that was written. */
  overriddenMetadata: orNull(
    Schema.Struct({
      message: Schema.String,
      overridingLayer: Schema.Struct(origin),
      effectiveValue: Schema.Unknown,
    }),
  ),
})

/** Writes one value. */
export const ConfigValueWrite = request("config/value/write", {
  params: Schema.Struct({ ...edit, ...target }),
  result: written,
  cancellable: false,
  since: "0.64",
  doc: "Writes one value to config.toml. Threads that are loaded keep their settings.",
})

/** Writes several values. */
export const ConfigBatchWrite = request("config/batchWrite", {
  params: Schema.Struct({
    edits: Schema.Array(Schema.Struct(edit)),
    ...target,
    reloadUserConfig: maybe(Schema.Boolean),
  }),
  result: written,
  cancellable: false,
  since: "0.64",
  doc: "Writes several values to config.toml, all or none.",
})

/** Reports what the administrator of the machine requires. */
export const ConfigRequirementsRead = request("configRequirements/read", {
  result: Schema.Struct({
    supportsIndependentSpeedModes: orNull(Schema.Boolean),
    /** Null: nothing is required. */
    requirements: orNull(Open),
  }),
  since: "0.75",
  doc: "Reports which values of the configuration the administrator of the machine requires.",
})
