/**
 * The responses to requests for which the server has no route: 405 with `Allow` where the path is served for other methods,
 * else 404, both with a JSON body. Behind a guard only those who may use the server learn which paths it has; a path that
 * nobody can read, such as `/%zz`, is 404 for everybody.
 */
import * as Effect from "effect/Effect"
import { HttpServerError } from "effect/http/HttpServerError"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { RouteTable } from "../guard/Guard.ts"

const segmentsOf = (path: string): ReadonlyArray<string> =>
  (path.split("?")[0] ?? "").split("/").filter((segment) => segment !== "")

/** True if the pattern of a route covers the path, as the router compares them: without regard to case. */
const covers = (pattern: ReadonlyArray<string>, path: ReadonlyArray<string>): boolean =>
  pattern.length === path.length &&
  pattern.every((part, i) => part.startsWith(":") || part.toLowerCase() === path[i]?.toLowerCase())

const notFound = HttpServerResponse.jsonUnsafe(
  { code: "not_found", message: "the server has no route with this path" },
  { status: 404 },
)

const notAllowed = (allow: string) =>
  HttpServerResponse.jsonUnsafe(
    { code: "method_not_allowed", message: `expected ${allow}` },
    { status: 405, headers: { allow } },
  )

/** Responds where the router itself finds no route. */
const unreadable = HttpRouter.use((router) =>
  router.addGlobalMiddleware(
    Effect.catchIf(
      (error) => error instanceof HttpServerError && error.reason._tag === "RouteNotFound",
      () => Effect.succeed(notFound),
    ),
  ),
)

/** Serves what no other route of `RouteTable` serves. */
export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | RouteTable> = Layer.unwrap(
  Effect.map(RouteTable, (table) =>
    Layer.merge(
      unreadable,
      HttpRouter.add(
        "*",
        "/*",
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
          Effect.map(table.routes, (routes) => {
            const path = segmentsOf(url)
            const methods = routes.flatMap((route) =>
              covers(segmentsOf(route.path), path)
                ? route.method === "GET"
                  ? ["GET", "HEAD"]
                  : [route.method]
                : [],
            )
            return methods.length === 0 ? notFound : notAllowed([...new Set(methods)].join(", "))
          }),
        ),
      ),
    ),
  ),
)
