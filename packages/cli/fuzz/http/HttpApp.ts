/** A server of HTTP in memory and on a virtual clock: every route behind its guard, without a socket. */
import { localPrincipal } from "@colloquy/protocol/Connection"
import * as AppServer from "@colloquy/server/AppServer"
import * as McpServer from "@colloquy/server/McpServer"
import { withLazyDialect } from "@colloquy/server/LazyDialect"
import { guarded, RouteTable } from "@colloquy/transport-http/guard/Guard"
import { Limits } from "@colloquy/transport-http/guard/Limits"
import { knownToken, Principals } from "@colloquy/transport-http/guard/Principals"
import * as McpRoutes from "@colloquy/transport-http/mcp/McpRoutes"
import * as HealthRoutes from "@colloquy/transport-http/ops/HealthRoutes"
import * as MetricsRoute from "@colloquy/transport-http/ops/MetricsRoute"
import * as TraceContext from "@colloquy/transport-http/ops/TraceContext"
import * as PlainRoutes from "@colloquy/transport-http/v1/PlainRoutes"
import * as WebSocketRoute from "@colloquy/transport-http/ws/WebSocketRoute"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Headers from "effect/http/Headers"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import { causeResponse } from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { joinedHeaders, type RequestText } from "./RequestText.ts"

/** The credentials that the server knows, with their principals. */
export const tokens = { "secret-of-ada": localPrincipal, "secret-of-bob": "bob" } as const

/** What a client has of a response after a second. */
export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body so far. */
  readonly text: string
  /** True if the body has ended. */
  readonly isOver: boolean
}

/** Virtual milliseconds that a client reads a response, and then disconnects. */
const patienceMs = 1_000

/** Counts the requests that are served: what is counted and not released is a leak. */
const countedLimits = (
  limits: Limits["Service"],
  add: (by: number) => void,
): Limits["Service"] => ({
  ...limits,
  admit: (principal) =>
    Effect.tap(limits.admit(principal), () => {
      add(1)
      return Effect.addFinalizer(() => Effect.sync(() => add(-1)))
    }),
})

const mcp = McpRoutes.layer((connection) =>
  Effect.flatMap(withLazyDialect(AppServer.beside()), (beside) =>
    McpServer.serve(connection, { maxInFlight: 32, ownTools: "all", pageSize: 3, beside }),
  ),
)

const routes = Layer.mergeAll(
  guarded(
    Layer.mergeAll(
      mcp,
      PlainRoutes.layer,
      WebSocketRoute.layer("/ws", (connection) => AppServer.serve(connection)),
      MetricsRoute.layer({ nameOf: (name) => name }),
    ),
    { maxBodyBytes: 12 * 1024 },
  ),
  guarded(HealthRoutes.layer(Effect.succeed(undefined)), { isPublic: true }),
  TraceContext.layer,
)

const unlimited = Number.MAX_SAFE_INTEGER

/** A request as Node hands it over: its body was read, and its target may be anything. */
const requestOf = (given: RequestText): HttpServerRequest.HttpServerRequest => {
  const base = HttpServerRequest.fromWeb(new Request("http://localhost/")).modify({
    url: given.target,
    headers: Headers.fromInput(joinedHeaders(given)),
  })
  const bytes = new TextEncoder().encode(given.body)
  const fixed = <A>(value: A) => ({ value })
  return Object.create(base, {
    method: fixed(given.method),
    text: fixed(Effect.succeed(given.body)),
    arrayBuffer: fixed(Effect.succeed(bytes.buffer)),
    stream: fixed(bytes.length === 0 ? Stream.empty : Stream.succeed(bytes)),
  }) as HttpServerRequest.HttpServerRequest
}

const bodyOf = ({ body }: HttpServerResponse.HttpServerResponse): Stream.Stream<Uint8Array> => {
  switch (body._tag) {
    case "Uint8Array":
      return Stream.succeed(body.body)
    case "Stream":
      return Stream.orDie(body.stream)
    default:
      return Stream.empty
  }
}

/** Makes the server, which lives as long as its scope. */
export const make = Effect.gen(function* () {
  let served = 0
  const limits = Layer.effect(
    Limits,
    Effect.map(Limits, (counted) =>
      countedLimits(counted, (by) => {
        served += by
      }),
    ),
  ).pipe(
    Layer.provide(Limits.layer({ maxFailedRequests: unlimited, maxPrincipalRequests: unlimited })),
  )
  const known = Object.entries(tokens).map(([token, principal]) => knownToken(token, principal))
  const app = yield* HttpRouter.toHttpEffect(
    routes.pipe(
      Layer.provide([
        HttpServer.layerServices,
        Principals.layerTokens(known),
        limits,
        RouteTable.layer,
      ]),
    ),
  )
  const serve = (request: RequestText, scope: Scope.Closeable) =>
    app.pipe(
      Effect.catchCause((cause) => Effect.map(causeResponse(cause), ([refusal]) => refusal)),
      Effect.provideService(HttpServerRequest.HttpServerRequest, requestOf(request)),
      Effect.provideService(Scope.Scope, scope),
    )
  /** The response to a request, as far as a client that disconnects after a second sees it; undefined if there was none. */
  const request = Effect.fnUntraced(function* (given: RequestText) {
    const scope = yield* Scope.make()
    const received = { text: "", isOver: false }
    const response = yield* Effect.forkChild(serve(given, scope), { startImmediately: true })
    const found = yield* Effect.timeoutOption(Fiber.join(response), patienceMs)
    if (found._tag === "None") {
      yield* Fiber.interrupt(response)
      yield* Scope.close(scope, Exit.void)
      return undefined
    }
    const { headers, status } = found.value
    const reading = Stream.runForEach(Stream.decodeText(bodyOf(found.value)), (text) =>
      Effect.sync(() => {
        received.text += text
      }),
    )
    const isOver = (yield* Effect.timeoutOption(reading, patienceMs))._tag === "Some"
    yield* Scope.close(scope, Exit.void)
    return { ...received, isOver, status, headers: { ...headers } }
  })
  return { request, served: () => served }
})

/** A server of HTTP. */
export type HttpApp = Effect.Success<typeof make>
