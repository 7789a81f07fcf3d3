/**
 * Observes the conversations of the process, and exports what is observed with OTLP if an address is configured. Loaded only
 * where the configuration has a table `telemetry`, or where `/metrics` is served.
 */
import * as Telemetry from "@colloquy/core/telemetry/Telemetry"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as OtlpLogger from "effect/observability/OtlpLogger"
import * as OtlpMetrics from "effect/observability/OtlpMetrics"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as OtlpTracer from "effect/observability/OtlpTracer"
import type { TelemetryOptions } from "../args/TelemetryOptions.ts"
import { version } from "../server/Version.ts"

/** Time in which the last export has to end when the process ends. */
const shutdownTimeout = "2 seconds"

type Variables = Readonly<Record<string, string | undefined>>

const headersOf = (
  { otlp_env_headers = {}, otlp_headers = {} }: TelemetryOptions,
  variables: Variables,
): Record<string, string> => {
  const headers: Record<string, string> = { ...otlp_headers }
  for (const [name, variable] of Object.entries(otlp_env_headers)) {
    const value = variables[variable]?.trim()
    if (value !== undefined && value !== "") headers[name] = value
  }
  return headers
}

/** What each signal is exported by. */
const exporters = {
  traces: OtlpTracer.layer,
  metrics: OtlpMetrics.layer,
  logs: OtlpLogger.layer,
} as const satisfies Readonly<Record<NonNullable<TelemetryOptions["signals"]>[number], unknown>>

type Exporting = Layer.Layer<
  never,
  never,
  HttpClient.HttpClient | OtlpSerialization.OtlpSerialization
>

const exporting = (options: TelemetryOptions, variables: Variables): Layer.Layer<never> => {
  const { export_interval_ms: exportInterval = 5000, otlp_endpoint: endpoint } = options
  if (endpoint === undefined) return Layer.empty
  const all = Array.from(
    new Set(options.signals ?? (["traces", "metrics"] as const)),
    (signal): Exporting =>
      exporters[signal]({
        url: `${endpoint.replace(/\/+$/, "")}/v1/${signal}`,
        resource: { serviceName: "colloquy", serviceVersion: version },
        headers: headersOf(options, variables),
        exportInterval,
        shutdownTimeout,
      }),
  )
  const [first, ...rest] = all
  if (first === undefined) return Layer.empty
  return Layer.mergeAll(first, ...rest).pipe(
    Layer.provide(
      options.otlp_protocol === "json"
        ? OtlpSerialization.layerJson
        : OtlpSerialization.layerProtobuf,
    ),
    Layer.provide(FetchHttpClient.layer),
  )
}

/**
 * The observer of the conversations, over the exporters. The log is exported besides being written.
 *
 * @param variables the environment of the process, for headers
 */
export const layer = (options: TelemetryOptions, variables: Variables): Layer.Layer<never> =>
  Layer.provideMerge(Telemetry.layer, exporting(options, variables))
