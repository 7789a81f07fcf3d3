/** Every route of the server's own table, as an attacker sees it. A route that is added later is tested by itself. */
import { noPorts, withCore } from "../../../server/test/support/Harness.ts"
import { RouteTable } from "@colloquy/transport-http/guard/Guard"
import { Limits } from "@colloquy/transport-http/guard/Limits"
import { knownToken, Principals } from "@colloquy/transport-http/guard/Principals"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import { causeResponse } from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import type { Served } from "../../src/args/Args.ts"
import { httpOptions } from "../../src/args/HttpOptions.ts"
import { routes } from "../../src/http/HttpRoutes.ts"
import type { Started } from "../../src/server/Started.ts"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import * as Result from "effect/Result"

type Headers = Readonly<Record<string, string>>

const good: Headers = { host: "127.0.0.1:8747", authorization: "Bearer secret" }

/** What the routes read of the start: the options of the server. */
const started = { startup: { options: {} } } as Started

const options = Result.getOrThrow(
  httpOptions(
    ConfigTree.fromRecord({
      http: { oauth_issuer: "https://issuer.example", oauth_resource: "https://colloquy.example" },
    }),
  ),
)

/** The statuses of the routes of a server. */
const withRoutes = <A>(
  served: Served,
  use: (
    table: RouteTable["Service"],
    statusOf: (method: string, path: string, headers: Headers) => Effect.Effect<number>,
  ) => Effect.Effect<A>,
) =>
  withCore([], () =>
    Effect.gen(function* () {
      const table = yield* RouteTable
      const app = yield* HttpRouter.toHttpEffect(
        routes({
          served,
          address: { scheme: "http", host: "127.0.0.1", port: 8747 },
          options,
          started,
        }).pipe(
          Layer.provide([
            HttpServer.layerServices,
            Principals.layerTokens([knownToken("secret", "local")]),
            Limits.layer({ maxFailedRequests: Number.MAX_SAFE_INTEGER }),
            noPorts,
          ]),
        ),
      )
      return yield* use(table, (method, path, headers) =>
        Effect.scoped(
          Effect.map(
            app.pipe(
              Effect.catchCause((cause) => Effect.map(causeResponse(cause), ([one]) => one)),
              Effect.provideService(
                HttpServerRequest.HttpServerRequest,
                HttpServerRequest.fromWeb(
                  new Request(`http://127.0.0.1:8747${path}`, { method, headers }),
                ),
              ),
            ),
            ({ status }) => status,
          ),
        ),
      )
    }).pipe(Effect.provide(RouteTable.layer)),
  )

/** The path with a value for each of its parts that have any. */
const pathOf = (path: string): string => (path === "*" ? "/any" : path.replaceAll(/:\w+/g, "x"))

const methodsOf = (method: string): ReadonlyArray<string> =>
  method === "*" ? ["GET", "POST", "DELETE", "PUT"] : [method]

const upgrade: Headers = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
}

describe.each(["all", "mcp", "app-server"] as const)("every route of `%s`", (served) => {
  it.effect("needs a token that is known, a host of the server and no foreign origin", () =>
    withRoutes(served, (table, statusOf) =>
      Effect.gen(function* () {
        const listed = yield* table.routes
        assert.isAbove(listed.length, 4)
        for (const { isPublic, method, path } of listed) {
          for (const one of methodsOf(method)) {
            for (const more of [{}, upgrade]) {
              const status = (headers: Headers) =>
                statusOf(one, pathOf(path), { ...more, ...headers })
              const name = `${one} ${path} ${"upgrade" in more ? "as an upgrade" : ""}`
              const { authorization: _, ...anonymous } = good
              const foreignHost = { ...good, host: "evil.example" }
              assert.strictEqual(yield* status(foreignHost), 403, name)
              const foreignOrigin = { ...good, origin: "https://evil.example" }
              assert.strictEqual(yield* status(foreignOrigin), 403, name)
              const sandboxed = { ...good, origin: "null" }
              assert.strictEqual(yield* status(sandboxed), 403, name)
              if (isPublic) {
                assert.notInclude([401, 403], yield* status(anonymous), name)
                continue
              }
              assert.strictEqual(yield* status(anonymous), 401, name)
              for (const authorization of ["Bearer wrong", "Basic secret", "secret", "Bearer"]) {
                assert.strictEqual(yield* status({ ...anonymous, authorization }), 401, name)
              }
              const inUrl = `${pathOf(path)}?access_token=secret&token=secret`
              assert.strictEqual(yield* statusOf(one, inUrl, anonymous), 401, name)
            }
          }
        }
      }),
    ),
  )
})

describe("the routes without a token", () => {
  it.effect("are these, and no others", () =>
    withRoutes("all", (table) =>
      Effect.map(table.routes, (listed) => {
        assert.sameMembers(
          listed.filter(({ isPublic }) => isPublic).map(({ method, path }) => `${method} ${path}`),
          ["GET /healthz", "GET /readyz", "GET /.well-known/oauth-protected-resource"],
        )
      }),
    ),
  )
})
