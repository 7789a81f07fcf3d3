/** MCP over HTTP in memory: requests without a socket, on a virtual clock. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import { causeResponse } from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { guarded } from "../../src/guard/Guard.ts"
import * as McpRoutes from "../../src/mcp/McpRoutes.ts"
import type { McpSessionsOptions, Serve } from "../../src/mcp/McpSessions.ts"
import { namedPrincipals } from "./Guards.ts"

export type Headers = Readonly<Record<string, string>>

/** One server-sent event, or a comment. */
export interface Sent {
  readonly event?: string
  readonly id?: string
  readonly retry?: string
  readonly data?: string
  readonly comment?: string
}

/** A response whose body is read while it arrives. */
export interface Reading {
  readonly status: number
  readonly headers: Headers
  /** Text of the body so far. */
  readonly text: () => string
  /** Events of the body so far. */
  readonly events: () => ReadonlyArray<Sent>
  readonly isOver: () => boolean
  /** Resolves when the body has ended. */
  readonly over: Effect.Effect<void>
  /** The client disconnects. */
  readonly disconnect: Effect.Effect<void>
}

/** Requests of one server. */
export interface McpHttp {
  readonly request: (
    method: string,
    headers?: Headers,
    body?: string,
    onText?: (text: string) => void,
    path?: string,
  ) => Effect.Effect<Reading, never, Scope.Scope>
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

export const eventsOf = (text: string): ReadonlyArray<Sent> =>
  text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) =>
      Object.fromEntries(
        block.split("\n").map((line) => {
          const at = line.indexOf(":")
          return [at === 0 ? "comment" : line.slice(0, at), line.slice(at + 1).trim()]
        }),
      ),
    )

/** Serves connections by `serve` until the scope closes. */
export const mcpHttp: (
  serve: Serve,
  options?: McpSessionsOptions,
) => Effect.Effect<McpHttp, never, Scope.Scope> = Effect.fnUntraced(function* (
  serve,
  options = {},
) {
  const app = yield* HttpRouter.toHttpEffect(
    guarded(McpRoutes.layer(serve, options)).pipe(
      Layer.provide([HttpServer.layerServices, namedPrincipals]),
    ),
  )
  const http: McpHttp = {
    request: Effect.fnUntraced(function* (method, headers = {}, body, onText, path = "/mcp") {
      const scope = yield* Scope.make()
      yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
      const request = new Request(`http://localhost${path}`, {
        method,
        headers: { host: "localhost", ...headers },
        ...(body === undefined ? {} : { body }),
      })
      const response = yield* app.pipe(
        Effect.catchCause((cause) => Effect.map(causeResponse(cause), ([refusal]) => refusal)),
        Effect.provideService(
          HttpServerRequest.HttpServerRequest,
          HttpServerRequest.fromWeb(request),
        ),
        Effect.provideService(Scope.Scope, scope),
        // The client that goes away before it has a response.
        Effect.onInterrupt(() => Scope.close(scope, Exit.void)),
      )
      let text = ""
      let isOver = false
      const reader = yield* Stream.decodeText(bodyOf(response)).pipe(
        Stream.runForEach((part) =>
          Effect.sync(() => {
            text += part
            onText?.(part)
          }),
        ),
        Effect.ensuring(
          Effect.sync(() => {
            isOver = true
          }),
        ),
        Effect.forkIn(scope, { startImmediately: true }),
      )
      return {
        status: response.status,
        headers: { ...response.headers },
        text: () => text,
        events: () => eventsOf(text),
        isOver: () => isOver,
        over: Effect.asVoid(Fiber.await(reader)),
        disconnect: Effect.andThen(Fiber.interrupt(reader), Scope.close(scope, Exit.void)),
      }
    }),
  }
  return http
})

/** Runs everything that can run without time passing. */
export const quiet = Effect.gen(function* () {
  for (let i = 0; i < 1000; i++) yield* Effect.yieldNow
})
