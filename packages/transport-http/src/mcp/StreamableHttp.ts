/**
 * Streamable HTTP: one endpoint for the handshake revisions with sessions, and for 2026-07-28, which has none.
 *
 *   POST ─┬─ names 2026-07-28 ──────────▶ StatelessRequest
 *         ├─ `initialize`, no session ──▶ a new session, whose id the response has
 *         └─ session id ────────────────▶ 202, or the responses as JSON or as a stream
 *   GET ──── session id ────────────────▶ the session's stream, or the rest of another one after `Last-Event-ID`
 *   DELETE ─ session id ────────────────▶ the session ends
 */
import type { ConnectionPeer } from "@colloquy/protocol/Connection"
import {
  type Batch,
  type Message,
  type Notification,
  parseFrame,
  type Request,
} from "@colloquy/protocol/JsonRpc"
import { Initialize } from "@colloquy/protocol/mcp/CodexMcp"
import { statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import { onFinish } from "../guard/Draining.ts"
import { makeStart } from "./Background.ts"
import type { LoggedMessage } from "./EventLog.ts"
import { jsonText, refusal, refused, unreadBody } from "./HttpError.ts"
import { isResponseText, type McpSession } from "./McpSession.ts"
import * as McpSessions from "./McpSessions.ts"
import {
  acceptsBoth,
  isJson,
  isStateless,
  peerOf,
  sessionHeader,
  versionFault,
  versionHeader,
} from "./RequestHeaders.ts"
import { eventId, notAcceptable, SessionResponses, unknownSession } from "./SessionResponses.ts"
import { sseResponse } from "./SseResponse.ts"
import * as StatelessRequest from "./StatelessRequest.ts"
import { traced } from "./TracedRequest.ts"

type HttpRequest = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Serves the requests of the endpoint; each on behalf of the principal that the guard has authenticated. */
interface StreamableHttp {
  readonly handle: (
    request: HttpRequest,
    principal: string,
  ) => Effect.Effect<Response, never, Scope.Scope>
}

const isInitialize = (message: Message | Batch): message is Request =>
  message._tag === "Request" && message.method === Initialize._tag

const tooMany = refused(503, "more sessions than the server allows", { "retry-after": "30" })

/** The revision that the response to `initialize` names; undefined for an error. */
const chosenRevision = (text: string): string | undefined => {
  const { result } = JSON.parse(text) as { readonly result?: unknown }
  const version = memberOf(result, "protocolVersion")
  return typeof version === "string" ? version : undefined
}

/** The endpoint with its sessions. */
class Endpoint implements StreamableHttp {
  private readonly sessions: McpSessions.McpSessions
  private readonly serve: McpSessions.Serve
  private readonly requests: StatelessRequest.OpenRequests
  private readonly responses: SessionResponses
  private readonly options: McpSessions.McpSessionsOptions

  constructor(
    sessions: McpSessions.McpSessions,
    serve: McpSessions.Serve,
    requests: StatelessRequest.OpenRequests,
    responses: SessionResponses,
    options: McpSessions.McpSessionsOptions,
  ) {
    this.sessions = sessions
    this.serve = serve
    this.requests = requests
    this.responses = responses
    this.options = options
  }

  readonly handle: StreamableHttp["handle"] = (request, principal) => {
    const version = request.headers[versionHeader]
    if (request.method !== "POST" && statelessVersions.some((one) => one === version)) {
      return Effect.succeed(refused(405, `expected POST for ${version}`, { allow: "POST" }))
    }
    switch (request.method) {
      case "POST":
        return this.post(request, principal)
      case "GET":
        return this.inSession(request, principal, (session) =>
          Effect.suspend(() => this.responses.get(request, session)),
        )
      case "DELETE":
        return this.inSession(request, principal, (session) =>
          Effect.as(this.sessions.end(session), HttpServerResponse.empty({ status: 204 })),
        )
      default:
        return Effect.succeed(
          refused(405, "expected POST, GET or DELETE", { allow: "GET, POST, DELETE" }),
        )
    }
  }

  private readonly post = Effect.fnUntraced(
    function* (this: Endpoint, request: HttpRequest, principal: string) {
      if (!acceptsBoth(request)) return notAcceptable("application/json and text/event-stream")
      if (!isJson(request)) return refused(415, "content-type: expected application/json")
      const text = yield* request.text
      const message = parseFrame(text)
      if (message._tag === "Invalid") return refusal(400, message.error, message.id)
      if (isStateless(request, message)) {
        return message._tag === "Request" || message._tag === "Notification"
          ? yield* this.stateless(peerOf(request, principal), message, text)
          : refused(400, "expected one request or notification")
      }
      if (request.headers[sessionHeader] === undefined && isInitialize(message)) {
        return yield* this.initialize(peerOf(request, principal), message, text)
      }
      return yield* this.inSession(request, principal, (session) =>
        this.responses.post(session, ...traced(message, text, request.headers)),
      )
    },
    Effect.catch((error) => Effect.succeed(unreadBody(error))),
  )

  private stateless(peer: ConnectionPeer, message: Request | Notification, text: string) {
    const { options, requests, serve } = this
    return StatelessRequest.respond(serve, requests, peer, { message, text }, options)
  }

  private readonly initialize = Effect.fnUntraced(function* (
    this: Endpoint,
    peer: ConnectionPeer,
    message: Request,
    text: string,
  ) {
    const session = yield* this.sessions.open(peer)
    if (session === undefined) return tooMany
    const exchange = session.begin([message.id])
    yield* session.deliver(text)
    const reader = exchange.log.attach()
    const messages: Array<LoggedMessage> = []
    while (true) {
      const taken = yield* reader.take
      if (taken === undefined) break
      messages.push(...taken)
    }
    reader.detach()
    const response = messages.find((one) => isResponseText(one.text))
    session.revision = response === undefined ? undefined : chosenRevision(response.text)
    if (response === undefined || session.revision === undefined) {
      yield* this.sessions.end(session)
      return response === undefined ? unknownSession : jsonText(response.text)
    }
    const headers = { [sessionHeader]: session.id }
    if (messages.length === 1) session.forget(exchange)
    return messages.length === 1
      ? jsonText(response.text, 200, headers)
      : sseResponse(reader, { first: messages, idOf: eventId(exchange.stream), headers })
  })

  private inSession<R>(
    request: HttpRequest,
    principal: string,
    respond: (session: McpSession) => Effect.Effect<Response, never, R>,
  ): Effect.Effect<Response, never, R> {
    const id = request.headers[sessionHeader]
    const fault =
      versionFault(request) ??
      (id === undefined ? refused(400, "Mcp-Session-Id: expected the id of a session") : undefined)
    if (fault !== undefined || id === undefined) return Effect.succeed(fault ?? unknownSession)
    const session = this.sessions.find(id, principal)
    if (session === undefined) return Effect.succeed(unknownSession)
    return Effect.ensuring(
      respond(session),
      Effect.map(Clock.currentTimeMillis, (now) => {
        session.usedAt = now
      }),
    )
  }
}

/** Creates the endpoint; the end of the scope ends its sessions and the requests without one. */
export const make = Effect.fnUntraced(function* (
  serve: McpSessions.Serve,
  options: McpSessions.McpSessionsOptions = {},
) {
  const sessions = yield* McpSessions.make(serve, options)
  const scope = yield* Effect.scope
  const requests = new StatelessRequest.OpenRequests(yield* makeStart)
  const responses = new SessionResponses(scope, options.closeStreamsAfter)
  yield* onFinish(requests.finish)
  const endpoint: StreamableHttp = new Endpoint(sessions, serve, requests, responses, options)
  return endpoint
})
