/**
 * The keys of the table `telemetry`: where spans, metrics and the log are exported to. Only a process with such a table reads
 * them, so their schema is made at its first use.
 */
import { decode } from "@colloquy/config/ConfigSchema"
import { type ConfigFault, faultAt } from "@colloquy/config/ConfigFault"
import { type ConfigTree, get, isTable } from "@colloquy/config/ConfigTree"
import { key, keyOr, StringTable } from "@colloquy/config/KeySchemas"
import { nearest } from "@colloquy/protocol/Nearest"
import { once } from "@colloquy/protocol/Once"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

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

/** The first misspelt key. It is an error, because a server would run unobserved. */
const misspelt = (tree: ConfigTree): ConfigFault | undefined => {
  const table = get(tree, "telemetry")
  const known = Object.keys(telemetrySchema().fields)
  const unknown = isTable(table)
    ? Object.keys(table).find((name) => !known.includes(name))
    : undefined
  if (unknown === undefined) return undefined
  const meant = nearest(unknown, known)
  return meant === undefined
    ? undefined
    : faultAt(["telemetry", unknown], `unknown field \`${unknown}\`, did you mean \`${meant}\`?`)
}

/** Decodes the table `telemetry` of a configuration; fails with the first key that is not valid. */
export const telemetryOptions = (
  tree: ConfigTree,
): Result.Result<TelemetryOptions, ConfigFault> => {
  const fault = misspelt(tree)
  if (fault !== undefined) return Result.fail(fault)
  return Result.map(
    decode(Schema.Struct({ telemetry: Schema.optionalKey(telemetrySchema()) }), tree),
    ({ telemetry = {} }) => telemetry,
  )
}
