/**
 * `/metrics`: the metrics of the process in the text format of Prometheus. They are those of the registry of the context in
 * which the layer is built. They count what all principals do, so only the user who started the server may read them: the
 * route belongs behind a guard.
 */
import { localPrincipal } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { principal } from "../guard/Guard.ts"

/** What the route needs to know of the metrics. */
export interface MetricsRouteOptions {
  /** The name of a metric for Prometheus, in which dots still become underscores. Default: its own. */
  readonly nameOf?: (metric: string) => string
}

const forbidden = HttpServerResponse.jsonUnsafe(
  { code: "forbidden", message: "only the user who started the server may read its metrics" },
  { status: 403, headers: { "cache-control": "no-store" } },
)

/** Serves the route for GET and HEAD to the local principal; any other gets 403. */
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
        Effect.map(principal, (name) =>
          name === localPrincipal
            ? HttpServerResponse.text(
                PrometheusMetrics.formatUnsafe(context, { metricNameMapper: nameOf }),
                {
                  contentType: "text/plain; version=0.0.4; charset=utf-8",
                  headers: { "cache-control": "no-store" },
                },
              )
            : forbidden,
        ),
      )
    }),
  )
