/** Port: the configuration as clients read and edit it. Values that may be secret are redacted. The default has no file. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** Reading or writing failed. `message` names the file or key, and contains no secret. */
export class ConfigFailed extends Data.TaggedError("ConfigFailed")<{
  /**
   * `conflict`: another version is stored. `invalid`: the edit, or the configuration with it, is not valid. `readonly`:
   * only the user's file can be written. `unavailable`: the file cannot be read or written.
   */
  readonly reason: "conflict" | "invalid" | "readonly" | "unavailable"
  readonly message: string
}> {}

/** Where a value comes from. */
export interface ConfigOrigin {
  /** `{ type: "user", file, profile: null }` or `{ type: "sessionFlags" }`. */
  readonly name: { readonly type: string; readonly [member: string]: unknown }
  /** Hash of the layer's contents. */
  readonly version: string
}

/** The configuration in effect. */
export interface ConfigView {
  /** By the keys of the file. */
  readonly config: Readonly<Record<string, unknown>>
  /** By dotted key. */
  readonly origins: Readonly<Record<string, ConfigOrigin>>
  /** The strongest first. */
  readonly layers: ReadonlyArray<ConfigOrigin & { readonly config: unknown }>
}

/** One change of the file. */
export interface ConfigEdit {
  /** Dotted. */
  readonly keyPath: string
  /** Null removes the key. */
  readonly value: unknown
  /** `upsert` merges tables; `replace` replaces them. */
  readonly mergeStrategy: "replace" | "upsert"
}

/** Changes that are made together. */
export interface ConfigEdits {
  readonly edits: ReadonlyArray<ConfigEdit>
  /** Absent: the user's file. */
  readonly filePath?: string
  /** Version of the file that the client has read; absent: any. */
  readonly expectedVersion?: string
}

/** The file after a write. */
export interface ConfigWritten {
  readonly version: string
  readonly filePath: string
  /** Present when a stronger layer sets one of the keys: its first such key. */
  readonly overridden?: {
    readonly message: string
    readonly overridingLayer: ConfigOrigin
    readonly effectiveValue: unknown
  }
}

/** The configuration of a server. */
export interface HostConfig {
  /** The configuration as it is now. */
  readonly read: Effect.Effect<ConfigView, ConfigFailed>
  /** Makes all edits or none. Keeps the rest of the file and its comments. */
  readonly write: (edits: ConfigEdits) => Effect.Effect<ConfigWritten, ConfigFailed>
}

/** Without a configuration file: everything is default, and writing fails. */
export const noConfig: HostConfig = {
  read: Effect.succeed({ config: {}, origins: {}, layers: [] }),
  write: () =>
    Effect.fail(
      new ConfigFailed({ reason: "unavailable", message: "there is no configuration file" }),
    ),
}

/** The configuration that clients read and edit. */
export const ConfigPort = Context.Reference<HostConfig>("@colloquy/server/thread/host/ConfigPort", {
  defaultValue: () => noConfig,
})
