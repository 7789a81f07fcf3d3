/** The table of routes: the only way to a router, so that no route is without the guard. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import type { Guard } from "./Guard.ts"

/** One route, which serves a request on behalf of the principal that the guard has authenticated. */
export interface GuardedRoute {
  /** `*`: every method; the route itself refuses those that it does not have. */
  readonly method: "*" | "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: HttpRouter.PathInput
  readonly respond: (
    request: HttpServerRequest.HttpServerRequest,
    principal: string,
  ) => Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    never,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
}

/** Adds the routes to the router, each with the guard in front. */
export const layer = <R>(
  guard: Guard,
  table: Effect.Effect<ReadonlyArray<GuardedRoute>, never, R>,
) =>
  HttpRouter.use((router) =>
    Effect.flatMap(table, (routes) =>
      Effect.forEach(
        routes,
        ({ method, path, respond }) =>
          router.add(method, path, (request) => guard.pass(request, respond)),
        { discard: true },
      ),
    ),
  )
