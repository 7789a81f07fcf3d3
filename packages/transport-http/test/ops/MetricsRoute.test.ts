import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import { guarded } from "../../src/guard/Guard.ts"
import { namedPrincipals } from "../support/Guards.ts"
import * as MetricsRoute from "../../src/ops/MetricsRoute.ts"

describe("/metrics", () => {
  it.effect("has the metrics of its registry, as they are at the time of the request", () =>
    Effect.gen(function* () {
      const app = yield* HttpRouter.toHttpEffect(
        guarded(
          MetricsRoute.layer({
            nameOf: (name) => (name === "some.turns" ? `${name}.total` : name),
          }),
        ),
      )
      const get = Effect.fnUntraced(function* (method = "GET", of = "local") {
        const request = new Request("http://localhost/metrics", {
          method,
          headers: { host: "localhost", "x-principal": of },
        })
        const response = yield* Effect.provideService(
          app,
          HttpServerRequest.HttpServerRequest,
          HttpServerRequest.fromWeb(request),
        )
        const answer = HttpServerResponse.toWeb(response, { withoutBody: method === "HEAD" })
        if (of !== "local") return `${answer.status} ${yield* Effect.promise(() => answer.text())}`
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(
          answer.headers.get("content-type"),
          "text/plain; version=0.0.4; charset=utf-8",
        )
        return yield* Effect.promise(() => answer.text())
      })
      assert.strictEqual(yield* get(), "")
      const turns = Metric.counter("some.turns", { description: "Turns.", incremental: true })
      yield* Metric.update(turns, 2)
      const text =
        "# HELP some_turns_total Turns.\n# TYPE some_turns_total counter\nsome_turns_total 2\n"
      assert.strictEqual(yield* get(), text)
      assert.strictEqual(yield* get("HEAD"), "")
      assert.match(yield* get("GET", "ada"), /^403 .*only the user who started the server/)
    }).pipe(
      Effect.scoped,
      Effect.provide(namedPrincipals),
      Effect.provideService(Metric.MetricRegistry, new Map()),
    ),
  )
})
