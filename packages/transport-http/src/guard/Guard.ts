/**
 * What every route has in front: the checks of `Host` and `Origin`, the size of the body and the principal of the request.
 *
 *     request ─► Host, Origin ─► length ─► principal ─► route
 *                  400, 403        413        401
 *
 * `guarded` puts it in front of all routes of a layer, whoever adds them, so no route can be forgotten, and `RouteTable`
 * lists them.
 */
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { type Addresses, addressFault, loopback } from "./Addresses.ts"
import { Principals } from "./Principals.ts"

/** A refused request. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 413
  readonly code: "invalid_request" | "unauthorized" | "forbidden" | "too_large"
  readonly message: string
  /** The header at fault, if it is one. */
  readonly field?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What the guard checks. Every member has a default. */
export interface GuardOptions {
  /** Default: the names of the loopback interface, and no page of another server. */
  readonly addresses?: Addresses
  /**
   * True: the routes are served without a principal. For what says nothing about anybody's conversations, such as the health
   * of the process. Default false.
   */
  readonly isPublic?: boolean
  /** Largest body of a request. Default 64 MiB: that of a line on standard input. */
  readonly maxBodyBytes?: number
  /** The response of a refused request. Default: JSON with `code`, `message` and `field`. */
  readonly refused?: (refusal: Refusal) => HttpServerResponse.HttpServerResponse
}

/** A route that is served behind a guard. */
export interface GuardedRoute {
  /** `*` for every method. */
  readonly method: string
  readonly path: string
  /** True: served to everybody who may reach the port, without a principal. */
  readonly isPublic: boolean
}

/** The guarded routes of a server, in the order in which they were added. */
export class RouteTable extends Context.Service<
  RouteTable,
  {
    readonly routes: Effect.Effect<ReadonlyArray<GuardedRoute>>
    readonly add: (route: GuardedRoute) => void
  }
>()("@colloquy/transport-http/RouteTable") {
  static readonly layer: Layer.Layer<RouteTable> = Layer.sync(this, () => {
    const routes: Array<GuardedRoute> = []
    return {
      routes: Effect.sync(() => [...routes]),
      add: (route) => {
        routes.push(route)
      },
    }
  })
}

/** The principal of the request that is served. Undefined outside a guarded route. */
export const CurrentPrincipal = Context.Reference<string | undefined>(
  "@colloquy/transport-http/CurrentPrincipal",
  { defaultValue: () => undefined },
)

/** The principal of the request that is served. A route without a guard acts for nobody: it dies. */
export const principal: Effect.Effect<string> = Effect.flatMap(CurrentPrincipal, (current) =>
  current === undefined ? Effect.die(new Error("the route has no guard")) : Effect.succeed(current),
)

const defaultMaxBodyBytes = 64 * 1024 * 1024

const json = ({ code, field, headers, message, status }: Refusal) =>
  HttpServerResponse.jsonUnsafe(
    { code, message, ...(field === undefined ? {} : { field }) },
    { status, headers: { "cache-control": "no-store", ...headers } },
  )

/** The first reason not to serve a request; if there is none its principal, undefined for a public route. */
const admit = (
  { headers }: HttpServerRequest.HttpServerRequest,
  { identify }: Principals["Service"],
  { addresses = loopback, isPublic = false, maxBodyBytes = defaultMaxBodyBytes }: GuardOptions,
): Effect.Effect<string | undefined, Refusal> => {
  const fault = addressFault(headers, addresses)
  if (fault !== undefined) {
    return Effect.fail({ ...fault, code: fault.status === 400 ? "invalid_request" : "forbidden" })
  }
  const length = headers["content-length"]
  if (length !== undefined && Number(length) > maxBodyBytes) {
    return Effect.fail({
      status: 413,
      code: "too_large",
      message: `the body has ${length} bytes; at most ${maxBodyBytes} are accepted`,
      // What follows is not read, so the connection cannot carry another request.
      headers: { connection: "close" },
    })
  }
  if (isPublic) return Effect.succeed(undefined)
  return Effect.mapError(identify(headers), ({ challenge, message }) => ({
    status: 401,
    code: "unauthorized",
    message,
    headers: { "www-authenticate": challenge },
  }))
}

type Handler = Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, unknown>

const wrap = (
  handler: Handler,
  principals: Principals["Service"],
  { refused = json, ...options }: GuardOptions,
): Handler =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.matchEffect(admit(request, principals, options), {
      onFailure: (refusal) => Effect.succeed(refused(refusal)),
      onSuccess: (found) =>
        handler.pipe(
          Effect.provideService(CurrentPrincipal, found),
          Effect.provideService(
            HttpIncomingMessage.MaxBodySize,
            ByteSize.bytes(options.maxBodyBytes ?? defaultMaxBodyBytes),
          ),
        ),
    }),
  )

/** The router with a guard in front of every route that is added to it. */
const guardedRouter = (
  router: HttpRouter.HttpRouter,
  guardRoute: (
    route: HttpRouter.Route<unknown, unknown>,
    prefix: string,
  ) => HttpRouter.Route<unknown, unknown>,
  prefix = "",
): HttpRouter.HttpRouter => {
  const guardAll = <Routes extends ReadonlyArray<HttpRouter.Route<unknown, unknown>>>(
    routes: Routes,
  ) =>
    // Only the handlers differ, and what they require and how they fail does not.
    routes.map((route) => guardRoute(route, prefix)) as unknown as Routes
  return {
    ...router,
    add: (method, path, handler, options) => {
      const [route] = guardAll([HttpRouter.route(method, path, handler, options)] as const)
      return router.addAll([route])
    },
    addAll: (routes) => router.addAll(guardAll(routes)),
    prefixed: (more) => guardedRouter(router.prefixed(more), guardRoute, `${prefix}${more}`),
  }
}

/** The same routes, each behind the guard. What the guard accepts gets `CurrentPrincipal`. */
export const guarded = <E, R>(
  routes: Layer.Layer<never, E, R>,
  options: GuardOptions = {},
): Layer.Layer<
  never,
  E,
  Exclude<R, HttpRouter.HttpRouter> | HttpRouter.HttpRouter | Principals | RouteTable
> =>
  Layer.provide(
    routes,
    Layer.effect(
      HttpRouter.HttpRouter,
      Effect.gen(function* () {
        const principals = yield* Principals
        const table = yield* RouteTable
        return guardedRouter(yield* HttpRouter.HttpRouter, (route, prefix) => {
          table.add({
            method: route.method,
            path: `${prefix}${route.path}`,
            isPublic: options.isPublic ?? false,
          })
          return { ...route, handler: wrap(route.handler, principals, options) }
        })
      }),
    ),
  )
