/**
 * What every route has in front: the checks of `Host` and `Origin`, the size of the body, the principal of the request and
 * the limits of the server.
 *
 *     request ─► Host, Origin ─► length ─► principal ─► limits ─► coding ─► route
 *                  400, 403        413     401, 429    429, 503    415
 *
 * `guarded` puts it in front of all routes of a layer, whoever adds them, so no route can be forgotten, and `RouteTable`
 * lists them.
 */
import * as ByteSize from "effect/ByteSize"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServerError } from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { type Addresses, addressFault, loopback } from "./Addresses.ts"
import { CredentialEnd, credentialEnd, endingWith } from "./CredentialEnd.ts"
import { type Drain, Draining, drainReason } from "./Draining.ts"
import { type LimitFault, Limits } from "./Limits.ts"
import { type NotIdentified, Principals } from "./Principals.ts"
import { NotUtf8, withStrictText } from "./RequestText.ts"

/** A refused request. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 413 | 415 | 429 | 503
  readonly code:
    | "invalid_request"
    | "unauthorized"
    | "forbidden"
    | "too_large"
    | "unsupported_media_type"
    | "too_many_requests"
    | "busy"
    | "unavailable"
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

/** The services that a guard asks. */
interface Judges {
  readonly principals: Principals["Service"]
  readonly limits: Limits["Service"]
  readonly drain: Drain
}

const limited = ({ message, retryAfterSeconds, status }: LimitFault): Refusal => ({
  status,
  code: status === 429 ? "too_many_requests" : "busy",
  message,
  headers: { "retry-after": String(retryAfterSeconds) },
})

const tooLarge = (message: string): Refusal => ({
  status: 413,
  code: "too_large",
  message,
  // What follows is not read, so the connection cannot carry another request.
  headers: { connection: "close" },
})

const unavailable: Refusal = {
  status: 503,
  code: "unavailable",
  message: drainReason,
  headers: { connection: "close", "retry-after": "5" },
}

const bodyFault = (length: string | undefined, maxBodyBytes: number): Refusal | undefined =>
  length !== undefined && Number(length) > maxBodyBytes
    ? tooLarge(`the body has ${length} bytes; at most ${maxBodyBytes} are accepted`)
    : undefined

const uncoded = new Set(["", "identity"])
const charsets = new Set(["utf-8", "utf8", "us-ascii"])

const unsupported = (field: string, message: string): Refusal => ({
  status: 415,
  code: "unsupported_media_type",
  field,
  message: `${field}: ${message}`,
  headers: { "accept-encoding": "identity", connection: "close" },
})

/** A body is read as it was sent, as UTF-8: a compressed one could become far larger than its limit. */
const codingFault = (headers: HttpServerRequest.HttpServerRequest["headers"]) => {
  if (!uncoded.has((headers["content-encoding"] ?? "").trim().toLowerCase()))
    return unsupported("Content-Encoding", "expected a body that is not encoded")
  // Node removes the chunks and no other coding, of which a proxy in front may read another body.
  if ((headers["transfer-encoding"] ?? "chunked").trim().toLowerCase() !== "chunked")
    return unsupported("Transfer-Encoding", "expected nothing but chunked")
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers["content-type"] ?? "")?.[1]
  return charset === undefined || charsets.has(charset.toLowerCase())
    ? undefined
    : unsupported("Content-Type", "expected the charset utf-8")
}

/** The response to a request without a principal. */
const refusalOf = (error: NotIdentified): Refusal => {
  const { message } = error
  switch (error._tag) {
    case "Unauthorized":
      return {
        status: 401,
        code: "unauthorized",
        message,
        headers: { "www-authenticate": error.challenge },
      }
    case "InsufficientScope":
      return {
        status: 403,
        code: "forbidden",
        message,
        headers: { "www-authenticate": error.challenge },
      }
    case "IssuerUnavailable":
      return {
        status: 503,
        code: "unavailable",
        message,
        headers: { "retry-after": String(error.retryAfterSeconds) },
      }
  }
}

/** The principal of a request that is within the limits of the server. */
const authenticate = (
  request: HttpServerRequest.HttpServerRequest,
  { limits, principals }: Judges,
): Effect.Effect<string, Refusal, Scope.Scope> => {
  const refuse = (error: NotIdentified) =>
    limits
      .countFailed(Option.getOrElse(request.remoteAddress, () => ""))
      .pipe(Effect.mapError(limited), Effect.andThen(Effect.fail(refusalOf(error))))
  return principals.identify(request.headers).pipe(
    Effect.catch(refuse),
    Effect.tap((principal) => Effect.mapError(limits.admit(principal), limited)),
  )
}

/** The first reason not to serve a request; if there is none its principal, undefined for a public route. */
const admit = (
  request: HttpServerRequest.HttpServerRequest,
  judges: Judges,
  { addresses = loopback, isPublic = false, maxBodyBytes = defaultMaxBodyBytes }: GuardOptions,
): Effect.Effect<string | undefined, Refusal, Scope.Scope> => {
  const fault = addressFault(request.headers, addresses)
  if (fault !== undefined) {
    return Effect.fail({ ...fault, code: fault.status === 400 ? "invalid_request" : "forbidden" })
  }
  if (isPublic) return Effect.succeed(undefined)
  if (judges.drain.isRefusing()) return Effect.fail(unavailable)
  const large = bodyFault(request.headers["content-length"], maxBodyBytes)
  if (large !== undefined) return Effect.fail(large)
  const coding = codingFault(request.headers)
  const admitted = authenticate(request, judges)
  return coding === undefined ? admitted : Effect.andThen(admitted, Effect.fail(coding))
}

/** The refusal of a request whose route failed because of its body; undefined for any other failure. */
const bodyRefusal = (cause: Cause.Cause<unknown>, maxBodyBytes: number): Refusal | undefined => {
  for (const reason of cause.reasons) {
    const error = Cause.isFailReason(reason)
      ? reason.error
      : Cause.isDieReason(reason)
        ? reason.defect
        : undefined
    if (!(error instanceof HttpServerError) || error.reason._tag !== "RequestParseError") continue
    if (error.reason.reason === "BodyTooLarge")
      return tooLarge(`at most ${maxBodyBytes} bytes are accepted`)
    if (error.reason.cause instanceof NotUtf8)
      return { status: 400, code: "invalid_request", message: error.reason.cause.message }
  }
  return undefined
}

/** What a route gets of its guard. Only what upgrades the connection needs the end of its credentials itself. */
const servingContext = (
  request: HttpServerRequest.HttpServerRequest,
  found: string | undefined,
  bodySize: ByteSize.ByteSize,
  { principals }: Judges,
) => {
  const context = Context.make(CurrentPrincipal, found).pipe(
    Context.add(HttpIncomingMessage.MaxBodySize, bodySize),
    Context.add(HttpServerRequest.HttpServerRequest, withStrictText(request)),
  )
  return found === undefined || request.headers["upgrade"] === undefined
    ? context
    : Context.add(context, CredentialEnd, credentialEnd(request, found, principals))
}

type Handler = Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, unknown>

const wrap = (
  handler: Handler,
  judges: Judges,
  { maxBodyBytes = defaultMaxBodyBytes, refused = json, ...options }: GuardOptions,
  bodySize = ByteSize.bytes(maxBodyBytes),
): Handler =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.matchEffect(admit(request, judges, { ...options, maxBodyBytes }), {
      onFailure: (refusal) => Effect.succeed(refused(refusal)),
      onSuccess: (found) => {
        const served = handler.pipe(
          Effect.catchCause((cause) => {
            const refusal = bodyRefusal(cause, maxBodyBytes)
            return refusal === undefined
              ? Effect.failCause(cause)
              : Effect.succeed(refused(refusal))
          }),
          Effect.provideContext(servingContext(request, found, bodySize, judges)),
        )
        return found === undefined
          ? served
          : Effect.map(served, (response) =>
              endingWith(response, () => credentialEnd(request, found, judges.principals)),
            )
      },
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
  Exclude<R, HttpRouter.HttpRouter> | HttpRouter.HttpRouter | Limits | Principals | RouteTable
> =>
  Layer.provide(
    routes,
    Layer.effect(
      HttpRouter.HttpRouter,
      Effect.gen(function* () {
        const principals = yield* Principals
        const judges = { principals, limits: yield* Limits, drain: yield* Draining }
        const table = yield* RouteTable
        return guardedRouter(yield* HttpRouter.HttpRouter, (route, prefix) => {
          table.add({
            method: route.method,
            path: `${prefix}${route.path}`,
            isPublic: options.isPublic ?? false,
          })
          return { ...route, handler: wrap(route.handler, judges, options) }
        })
      }),
    ),
  )
