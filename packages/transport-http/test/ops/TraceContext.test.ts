import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as TraceContext from "../../src/ops/TraceContext.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const spanId = "b7ad6b7169203331"

const route = HttpRouter.add(
  "GET",
  "/",
  Effect.match(Effect.currentParentSpan, {
    onFailure: () => HttpServerResponse.text("none"),
    onSuccess: (span) =>
      HttpServerResponse.text(`${span._tag} ${span.traceId} ${span.spanId} ${span.sampled}`),
  }),
)

describe("the trace of an HTTP request", () => {
  it.effect.each([
    [`00-${traceId}-${spanId}-01`, `ExternalSpan ${traceId} ${spanId} true`],
    [`00-${traceId}-${spanId}-00`, `ExternalSpan ${traceId} ${spanId} false`],
    [`00-${"0".repeat(32)}-${spanId}-01`, "none"],
    ["nonsense", "none"],
    ["", "none"],
  ])("%s", ([traceparent, expected]) =>
    Effect.gen(function* () {
      const app = yield* HttpRouter.toHttpEffect(Layer.merge(route, TraceContext.layer))
      const request = new Request("http://localhost/", { headers: { traceparent } })
      const response = yield* Effect.provideService(
        app,
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(request),
      )
      const answer = HttpServerResponse.toWeb(response)
      assert.strictEqual(yield* Effect.promise(() => answer.text()), expected)
    }).pipe(Effect.scoped, Effect.withTracerEnabled(false)),
  )
})
