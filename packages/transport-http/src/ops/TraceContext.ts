/** The trace of a request, as its header `traceparent` names it (W3C Trace Context): what the request causes belongs to it. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

/** Provides the span of the caller to every route. A header that is not valid is no header. */
export const layer = HttpRouter.middleware(
  (app) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
      const caller = Option.getOrUndefined(HttpTraceContext.w3c(headers))
      return caller === undefined ? app : Effect.provideService(app, Tracer.ParentSpan, caller)
    }),
  { global: true },
)
