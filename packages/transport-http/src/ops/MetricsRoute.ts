/**
 * `/metrics`: the metrics of the process in the text format of Prometheus. They are those of the registry of the context in
 * which the layer is built. They count what all principals do, so the route belongs behind a guard.
 */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"

/** What the route needs to know of the metrics. */
export interface MetricsRouteOptions {
  /** The name of a metric for Prometheus, in which dots still become underscores. Default: its own. */
  readonly nameOf?: (metric: string) => string
}

/** Serves the route for GET and HEAD. */
export const layer = ({ nameOf }: MetricsRouteOptions = {}): Layer.Layer<
  never,
  never,
  HttpRouter.HttpRouter
> =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const context = yield* Effect.context()
      yield* router.add(
        "GET",
        "/metrics",
        Effect.sync(() =>
          HttpServerResponse.text(
            PrometheusMetrics.formatUnsafe(context, { metricNameMapper: nameOf }),
            {
              contentType: "text/plain; version=0.0.4; charset=utf-8",
              headers: { "cache-control": "no-store" },
            },
          ),
        ),
      )
    }),
  )
