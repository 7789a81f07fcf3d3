/**
 * The keys of the table `telemetry`: where spans, metrics and the log are exported to. Only a process with such a table reads
 * them, so their schema is made at its first use.
 */
import { decode } from "@colloquy/config/ConfigSchema"
import type { ConfigFault } from "@colloquy/config/ConfigFault"
import type { ConfigTree } from "@colloquy/config/ConfigTree"
import { key, keyOr, StringTable } from "@colloquy/config/KeySchemas"
import { once } from "@colloquy/protocol/Once"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { misspeltKey } from "./MisspeltKey.ts"

/** What can be exported. */
export const signals = ["traces", "metrics", "logs"] as const

/** Schema of the table. */
export const telemetrySchema = once(() =>
  Schema.Struct({
    otlp_endpoint: key(
      Schema.String.check(
        Schema.isPattern(/^https?:\/\/[^\s/?#]+[^\s?#]*$/, {
          expected: "an address such as `http://127.0.0.1:4318`",
        }),
      ),
      "Address of an OpenTelemetry collector for OTLP over HTTP, to which `/v1/traces`, `/v1/metrics` and `/v1/logs` are appended. Without it nothing is exported.",
    ),
    otlp_protocol: keyOr(
      Schema.Literals(["protobuf", "json"]),
      "protobuf",
      "Encoding of what is exported.",
    ),
    otlp_headers: key(StringTable, "Headers of each export."),
    otlp_env_headers: key(
      StringTable,
      "Headers of each export to names of environment variables with their values; no command sees these variables.",
    ),
    signals: keyOr(
      Schema.Array(Schema.Literals(signals)),
      ["traces", "metrics"],
      "What is exported: `traces`, `metrics`, `logs`. The log may quote what tools and providers say.",
    ),
    export_interval_ms: keyOr(
      Schema.Int.check(Schema.isGreaterThanOrEqualTo(100)),
      5000,
      "Milliseconds between two exports.",
    ),
  }),
)

/** The decoded keys; a key that is not set is absent. */
export type TelemetryOptions = ReturnType<typeof telemetrySchema>["Type"]

/**
 * Decodes the table `telemetry` of a configuration; fails with the first key that is not valid. A misspelt one is an error,
 * because a server would run unobserved.
 */
export const telemetryOptions = (
  tree: ConfigTree,
): Result.Result<TelemetryOptions, ConfigFault> => {
  const misspelt = misspeltKey(tree, "telemetry", telemetrySchema().fields)
  if (misspelt !== undefined) return Result.fail(misspelt)
  return Result.map(
    decode(Schema.Struct({ telemetry: Schema.optionalKey(telemetrySchema()) }), tree),
    ({ telemetry = {} }) => telemetry,
  )
}
