/** A tracer that keeps its spans and a registry of metrics, for the tests of telemetry. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as Tracer from "effect/Tracer"
import { prometheusName } from "../../src/telemetry/Metrics.ts"
import * as Telemetry from "../../src/telemetry/Telemetry.ts"

/** Telemetry whose spans and metrics a test reads. */
export const observing = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const registry: Metric.MetricRegistry = new Map()
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    },
  })
  const layer = Telemetry.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.succeed(Tracer.Tracer)(tracer),
        Layer.succeed(Metric.MetricRegistry)(registry),
      ),
    ),
  )
  const scrape = PrometheusMetrics.format({ metricNameMapper: prometheusName }).pipe(
    Effect.provideService(Metric.MetricRegistry, registry),
  )
  return { spans, tracer, layer, scrape }
}

/** A span as a test compares it: durations in seconds, and `error` for one that failed. */
export const shown = (span: Tracer.NativeSpan) => ({
  name: span.name,
  kind: span.kind,
  parent: Option.getOrUndefined(span.parent)?.spanId,
  attributes: Object.fromEntries(span.attributes),
  ...(span.status._tag === "Ended"
    ? {
        seconds: Number(span.status.endTime - span.status.startTime) / 1e9,
        exit: span.status.exit._tag,
      }
    : {}),
})

/** The lines of a scrape that begin with this. */
export const lines = (scraped: string, start: string): ReadonlyArray<string> =>
  scraped.split("\n").filter((line) => line.startsWith(start))
