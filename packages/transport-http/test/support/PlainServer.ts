/** The plain API in memory: requests without a socket, on a virtual clock. */
import { withCore } from "../../../server/test/support/Harness.ts"
import type { ToolRuntime } from "@colloquy/core/ToolRuntime"
import type * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
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
import * as PlainRoutes from "../../src/v1/PlainRoutes.ts"
import { namedPrincipals } from "./Guards.ts"

/** A response that was read to its end. */
export interface Answer {
  readonly status: number
  readonly contentType: string | undefined
  /** Undefined for an empty body. */
  readonly body: Readonly<Record<string, unknown>> | undefined
}

/** One server-sent event; `comment` for a comment. */
interface Sent {
  readonly event?: string
  readonly id?: number
  readonly comment?: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** A stream of events that the client reads. */
interface EventsClient {
  readonly status: number
  /** Everything received so far. */
  readonly received: ReadonlyArray<Sent>
  /** True once the response has ended. */
  readonly isOver: () => boolean
  /** The client disconnects. */
  readonly disconnect: Effect.Effect<void>
}

/** A client of the API. */
export interface PlainClient {
  readonly request: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Effect.Effect<Answer>
  /** @param room awaited after each part: while it does not resolve, the client reads nothing */
  readonly events: (
    path: string,
    headers?: Readonly<Record<string, string>>,
    room?: Effect.Effect<void>,
  ) => Effect.Effect<EventsClient, never, Scope.Scope>
  /** Runs everything that can run without time passing. */
  readonly quiet: Effect.Effect<void>
}

/** What the tests read of an item of a list: of conversations, or of questions. */
interface Item {
  readonly conversationId: string
  readonly preview: string
  readonly seq: number
  readonly msg: { readonly type: string; readonly command: ReadonlyArray<string> }
}

/** The items of a list; fails the test where there are none. */
export const itemsOf = ({ body }: Answer): ReadonlyArray<Item> => {
  const items = body?.["items"]
  if (!Array.isArray(items)) throw new Error(`no items: ${JSON.stringify(body)}`)
  return items
}

const decoder = new TextDecoder()

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

const sentOf = (block: string): Sent => {
  const fields: Record<string, unknown> = {}
  for (const line of block.split("\n")) {
    const at = line.indexOf(":")
    const name = at === 0 ? "comment" : line.slice(0, at)
    const value = line.slice(at + 1).trim()
    if (name === "retry") continue
    fields[name] = name === "data" ? JSON.parse(value) : name === "id" ? Number(value) : value
  }
  return fields
}

const webRequest = (
  method: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
) =>
  new Request(`http://localhost${path}`, {
    method,
    headers: {
      host: "localhost",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  })

const quiet = Effect.gen(function* () {
  for (let i = 0; i < 1000; i++) yield* Effect.yieldNow
})

const makeClient = Effect.gen(function* () {
  const app = yield* HttpRouter.toHttpEffect(
    guarded(PlainRoutes.layer).pipe(Layer.provide([HttpServer.layerServices, namedPrincipals])),
  )
  const respond = (request: Request, scope: Scope.Scope) =>
    app.pipe(
      Effect.catchCause((cause) => Effect.map(causeResponse(cause), ([response]) => response)),
      Effect.provideService(
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(request),
      ),
      Effect.provideService(Scope.Scope, scope),
    )
  const client: PlainClient = {
    request: (method, path, body, headers) =>
      Effect.scoped(
        Effect.gen(function* () {
          const scope = yield* Effect.scope
          const response = yield* respond(webRequest(method, path, body, headers), scope)
          const text = yield* Stream.mkString(Stream.decodeText(bodyOf(response)))
          return {
            status: response.status,
            contentType: response.headers["content-type"],
            body: text === "" ? undefined : (JSON.parse(text) as Record<string, unknown>),
          }
        }),
      ),
    events: Effect.fnUntraced(function* (path, headers, room = Effect.void) {
      const scope = yield* Scope.make()
      yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
      const response = yield* respond(webRequest("GET", path, undefined, headers), scope)
      const received: Array<Sent> = []
      let over = false
      const reader = yield* bodyOf(response).pipe(
        Stream.runForEach((bytes) =>
          Effect.suspend(() => {
            for (const block of decoder.decode(bytes).split("\n\n")) {
              const sent = block === "" ? {} : sentOf(block)
              if (Object.keys(sent).length > 0) received.push(sent)
            }
            return room
          }),
        ),
        Effect.ensuring(
          Effect.sync(() => {
            over = true
          }),
        ),
        Effect.forkIn(scope, { startImmediately: true }),
      )
      return {
        status: response.status,
        received,
        isOver: () => over,
        disconnect: Effect.andThen(
          Fiber.interrupt(reader),
          Scope.close(scope, yield* Effect.exit(Effect.void)),
        ),
      }
    }),
    quiet,
  }
  return client
})

/** Runs `body` with a client of a new server, whose provider answers by the script. */
export const withPlain = <A, E>(
  script: Script.ProviderScript,
  body: (client: PlainClient) => Effect.Effect<A, E, Scope.Scope>,
  tools?: ToolRuntime["Service"],
): Effect.Effect<A, E> => withCore(script, () => Effect.flatMap(makeClient, body), tools)
