/**
 * The schema of all keys that `config.toml` and `-c` may set. Loaded only where keys are listed, or where one of them is not
 * among those that every start reads.
 */
import { Config } from "@colloquy/config/ConfigSchema"
import { key } from "@colloquy/config/KeySchemas"
import { once } from "@colloquy/protocol/Once"
import * as Schema from "effect/Schema"
import { clusterSchema } from "../args/ClusterOptions.ts"
import { httpSchema } from "../args/HttpOptions.ts"
import { ServerOptions } from "../args/ServerOptions.ts"
import { telemetrySchema } from "../args/TelemetryOptions.ts"

/** The schema, made at its first use. */
export const allKeys = once(() =>
  Schema.Struct({
    ...Config.fields,
    ...ServerOptions.fields,
    cluster: key(clusterSchema(), "Servers that share their conversations."),
    http: key(httpSchema(), "The server over HTTP."),
    telemetry: key(telemetrySchema(), "Export of spans, metrics and the log."),
  }),
)
