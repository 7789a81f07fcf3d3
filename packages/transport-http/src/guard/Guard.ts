/**
 * What stands in front of every route. A route is served only to a request that passes, in this order:
 *
 *   Host of the allow-list ─▶ no foreign Origin ─▶ known bearer token ─▶ rate and requests at once ─▶ size of the body
 *          403                      403                  401                   429, 503                  413
 *
 * No header allows another origin to read a response (CORS). Tokens are read from `Authorization` only, never from a URL.
 */
import * as Clock from "effect/Clock"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import type { Principals } from "../auth/Principals.ts"

type HttpRequest = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Decides on a request before its route serves it. */
export interface Guard {
  /** The response of the route on behalf of the request's principal, or a refusal. */
  readonly pass: <E, R>(
    request: HttpRequest,
    respond: (request: HttpRequest, principal: string) => Effect.Effect<Response, E, R>,
  ) => Effect.Effect<Response, E, R | Scope.Scope>
}

/** Limits and lists of a guard. */
export interface GuardOptions {
  readonly principals: Principals["Service"]
  /** Names of this server in `Host` and `Origin`, without ports. Default: the names of the loopback interface. */
  readonly hosts?: ReadonlyArray<string>
  /** Largest body of a request in bytes. Default 64 MiB. */
  readonly maxBodyBytes?: number
  /** Requests served at once, streams included. Default 2,048. */
  readonly maxRequests?: number
  /** Requests of one principal within ten seconds. Default 10,000. */
  readonly maxRate?: number
}

/** The names of the loopback interface. */
export const loopbackHosts: ReadonlyArray<string> = ["localhost", "127.0.0.1", "[::1]"]

const windowMs = 10_000

const refuse = (
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response => HttpServerResponse.jsonUnsafe({ code, message }, { status, headers })

/** The host of an authority without its port, in lower case. */
const hostOf = (authority: string): string => authority.toLowerCase().replace(/:\d{1,5}$/, "")

/** The authority of an origin; undefined for `null` and whatever else is none. */
const authorityOf = (origin: string): string | undefined =>
  /^https?:\/\/([^/?#@\\]+)$/i.exec(origin)?.[1]

const tokenOf = (authorization: string | undefined): string | undefined =>
  /^bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? "")?.[1]

/** Counts the requests of each principal in the present window. There are as many counts as known principals. */
const makeRate = (max: number) => {
  const windows = new Map<string, { start: number; count: number }>()
  /** Seconds until the principal may try again; undefined if it may now. */
  return (principal: string, now: number): number | undefined => {
    const window = windows.get(principal)
    if (window === undefined || now - window.start >= windowMs) {
      windows.set(principal, { start: now, count: 1 })
      return undefined
    }
    window.count++
    return window.count > max ? Math.ceil((window.start + windowMs - now) / 1000) : undefined
  }
}

/** Creates a guard. */
export const make = ({
  hosts = loopbackHosts,
  maxBodyBytes = 64 * 1024 * 1024,
  maxRate = 10_000,
  maxRequests = 2048,
  principals,
}: GuardOptions): Guard => {
  const allowed = new Set(hosts.map((host) => host.toLowerCase()))
  const rate = makeRate(maxRate)
  let open = 0

  const originFault = ({ headers }: HttpRequest): Response | undefined => {
    if (!allowed.has(hostOf(headers["host"] ?? ""))) {
      return refuse(403, "foreign_host", "host: not a name of this server")
    }
    const { origin } = headers
    const authority = origin === undefined ? undefined : authorityOf(origin)
    return origin === undefined || (authority !== undefined && allowed.has(hostOf(authority)))
      ? undefined
      : refuse(403, "foreign_origin", "origin: not allowed")
  }

  const limitFault = (
    { headers }: HttpRequest,
    principal: string,
    now: number,
  ): Response | undefined => {
    const seconds = rate(principal, now)
    if (seconds !== undefined) {
      const message = "more requests than the server allows"
      return refuse(429, "too_many_requests", message, { "retry-after": String(seconds) })
    }
    if (open >= maxRequests) {
      return refuse(503, "busy", "more requests at once than the server allows", {
        "retry-after": "1",
      })
    }
    return Number(headers["content-length"] ?? 0) > maxBodyBytes
      ? refuse(413, "too_large", `the body has more than ${maxBodyBytes} bytes`)
      : undefined
  }

  const pass: Guard["pass"] = (request, respond) =>
    Effect.gen(function* () {
      const foreign = originFault(request)
      if (foreign !== undefined) return foreign
      const token = tokenOf(request.headers["authorization"])
      const principal = token === undefined ? undefined : yield* principals.principalOf(token)
      if (principal === undefined) {
        const problem = token === undefined ? "" : ' error="invalid_token"'
        return refuse(401, "unauthorized", "authorization: expected a known bearer token", {
          "www-authenticate": `Bearer${problem}`,
        })
      }
      const fault = limitFault(request, principal, yield* Clock.currentTimeMillis)
      if (fault !== undefined) return fault
      open++
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          open--
        }),
      )
      return yield* Effect.provideService(
        respond(request, principal),
        HttpIncomingMessage.MaxBodySize,
        ByteSize.fromInputUnsafe(maxBodyBytes),
      )
    })
  return { pass }
}
