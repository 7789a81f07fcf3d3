import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { guarded, RouteTable } from "../../src/guard/Guard.ts"
import { Limits } from "../../src/guard/Limits.ts"
import * as UnknownRoutes from "../../src/ops/UnknownRoutes.ts"
import { knownTokens } from "../support/Guards.ts"

const ok = HttpServerResponse.text("ok")
const routes = guarded(
  Layer.mergeAll(
    HttpRouter.add("GET", "/things", ok),
    HttpRouter.add("POST", "/things", ok),
    HttpRouter.add("DELETE", "/things/:id", ok),
    UnknownRoutes.layer,
  ),
)
const authorization = "Bearer secret-of-ada"

const sent = (method: string, path: string, headers: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const app = yield* HttpRouter.toHttpEffect(routes)
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: { host: "localhost", ...headers },
    })
    const response = HttpServerResponse.toWeb(
      yield* Effect.provideService(
        app,
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(request),
      ),
    )
    const text = yield* Effect.promise(() => response.text())
    return {
      status: response.status,
      allow: response.headers.get("allow"),
      code: text.startsWith("{") ? (JSON.parse(text) as { code: string }).code : text,
    }
  }).pipe(
    Effect.scoped,
    Effect.provide([Layer.merge(knownTokens, Limits.layer()), RouteTable.layer]),
  )

describe("UnknownRoutes", () => {
  it.effect.each([
    ["GET", "/things?limit=1", 200, null, "ok"],
    ["GET", "/", 404, null, "not_found"],
    ["GET", "/other", 404, null, "not_found"],
    ["GET", "/things/%zz", 404, null, "not_found"],
    ["GET", "/things/1/2", 404, null, "not_found"],
    ["PUT", "/things", 405, "GET, HEAD, POST", "method_not_allowed"],
    ["OPTIONS", "/Things/?x=/things/1", 405, "GET, HEAD, POST", "method_not_allowed"],
    ["POST", "/things/1", 405, "DELETE", "method_not_allowed"],
  ] as const)("%s %s gets %i", ([method, path, status, allow, code]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* sent(method, path, { authorization }), { status, allow, code })
    }),
  )

  it.effect("say nothing about the routes to those without a token", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* sent("PUT", "/things", {})).status, 401)
      assert.strictEqual((yield* sent("GET", "/other", {})).status, 401)
    }),
  )
})
