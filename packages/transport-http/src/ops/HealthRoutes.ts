/**
 * `/healthz` and `/readyz`, for what starts, restarts and balances servers. They say nothing about conversations, so they can
 * be served without a principal.
 *
 * | route | 200 | 503 |
 * | --- | --- | --- |
 * | `/healthz` | the process responds | never |
 * | `/readyz` | it takes new requests | it is starting or shutting down |
 */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"

/** Why a server takes no new requests. */
export type Unready = "starting" | "closing"

const response = (status: 200 | 503, text: string) =>
  HttpServerResponse.jsonUnsafe(
    { status: text },
    { status, headers: { "cache-control": "no-store" } },
  )

/**
 * Serves both routes for GET and HEAD.
 *
 * @param unready why the server takes no new requests; undefined if it does
 */
export const layer = (
  unready: Effect.Effect<Unready | undefined>,
): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  Layer.merge(
    HttpRouter.add("GET", "/healthz", response(200, "ok")),
    HttpRouter.add(
      "GET",
      "/readyz",
      Effect.map(unready, (reason) =>
        reason === undefined ? response(200, "ready") : response(503, reason),
      ),
    ),
  )
