import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as HealthRoutes from "../../src/ops/HealthRoutes.ts"

describe("the health of a server", () => {
  it.effect("says that the process responds, and whether it takes new requests", () =>
    Effect.gen(function* () {
      let unready: HealthRoutes.Unready | undefined = "starting"
      const app = yield* HttpRouter.toHttpEffect(HealthRoutes.layer(Effect.sync(() => unready)))
      const get = Effect.fnUntraced(function* (path: string, method = "GET") {
        const request = new Request(`http://localhost${path}`, { method })
        const response = yield* Effect.provideService(
          app,
          HttpServerRequest.HttpServerRequest,
          HttpServerRequest.fromWeb(request),
        )
        const answer = HttpServerResponse.toWeb(response, { withoutBody: method === "HEAD" })
        return [answer.status, yield* Effect.promise(() => answer.text())] as const
      })
      assert.deepStrictEqual(yield* get("/readyz"), [503, '{"status":"starting"}'])
      assert.deepStrictEqual(yield* get("/healthz"), [200, '{"status":"ok"}'])
      unready = undefined
      assert.deepStrictEqual(yield* get("/readyz"), [200, '{"status":"ready"}'])
      assert.deepStrictEqual(yield* get("/readyz", "HEAD"), [200, ""])
      unready = "closing"
      assert.deepStrictEqual(yield* get("/readyz"), [503, '{"status":"closing"}'])
      assert.deepStrictEqual(yield* get("/healthz"), [200, '{"status":"ok"}'])
    }).pipe(Effect.scoped),
  )
})
