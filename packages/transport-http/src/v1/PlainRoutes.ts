/**
 * The routes of the plain API as one layer: the definitions of `PlainApi.ts` with their handlers, and the OpenAPI document at
 * `/v1/openapi.json`.
 */
import { present } from "@colloquy/protocol/app/Fields"
import type { InputItem } from "@colloquy/protocol/ResponseItem"
import { Server } from "@colloquy/server/Server"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { principal } from "../guard/Guard.ts"
import { eventStream } from "./EventStream.ts"
import { PlainApi, PlainErrors } from "./PlainApi.ts"
import { invalidParts, isInUse, isUnavailable } from "./PlainError.ts"
import * as Handlers from "./PlainHandlers.ts"
import { redirectTo } from "./Redirect.ts"

const codes: Readonly<Record<number, string>> = {
  404: "not_found",
  405: "method_not_allowed",
  413: "too_large",
  415: "unsupported_media_type",
}

/** A response of the library to a bad request has no body or a plain text; one of this API always says what was wrong. */
const withBody = (response: HttpServerResponse.HttpServerResponse) =>
  response.status < 400 || response.headers["content-type"] === "application/json"
    ? response
    : HttpServerResponse.jsonUnsafe(
        {
          code: codes[response.status] ?? "invalid_request",
          message:
            response.status === 415
              ? "content-type: expected application/json"
              : `the server responded with status ${response.status}`,
        },
        { status: response.status },
      )

/** A database that restarts, or a server that takes a conversation over, takes a few of these. */
const retryAfterSeconds = "1"

/**
 * Sends the client to the process that has its conversation, and says when to repeat what cannot be done now. Fails with any
 * other error.
 */
const withHeaders = <E>(
  error: E,
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, HttpServerRequest.HttpServerRequest> => {
  if (isUnavailable(error)) {
    const headers = { "retry-after": retryAfterSeconds, "cache-control": "no-store" }
    return Effect.succeed(HttpServerResponse.jsonUnsafe(error, { status: 503, headers }))
  }
  if (!isInUse(error)) return Effect.fail(error)
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers, url }) => {
    const location = redirectTo(error.owner.url, url, headers["host"])
    return location === undefined
      ? Effect.fail<E>(error)
      : Effect.succeed(
          HttpServerResponse.jsonUnsafe(error, {
            status: 307,
            headers: { location, "cache-control": "no-store" },
          }),
        )
  })
}

const errorsLayer = Layer.succeed(PlainErrors, (app) =>
  app.pipe(
    Effect.map(withBody),
    Effect.catch((error) =>
      withHeaders(HttpApiError.HttpApiSchemaError.is(error) ? invalidParts(error) : error),
    ),
  ),
)

/** What a principal may use: conversations are looked up in the view of the principal whose request is served. */
const access = Effect.map(Server, ({ conversations: viewOf, settings: settingsOf }) => {
  const view = Effect.map(principal, viewOf)
  const settings = Effect.map(principal, settingsOf)
  const find = (id: string) => Effect.flatMap(view, (views) => Handlers.find(views, id))
  return { settings, view, find }
})

const conversations = HttpApiBuilder.group(PlainApi, "conversations", (handlers) =>
  Effect.map(access, ({ settings, view }) =>
    handlers.handleAll({
      create: ({ payload }) =>
        Effect.gen(function* () {
          return yield* Handlers.create(yield* view, yield* settings, present(payload))
        }),
      list: ({ query }) => Effect.flatMap(view, (views) => Handlers.list(views, query)),
      get: ({ params }) => Effect.flatMap(view, (views) => Handlers.read(views, params.id)),
      fork: ({ params, payload }) =>
        Effect.flatMap(view, (views) => Handlers.fork(views, params.id, present(payload))),
      archive: ({ params }) =>
        Effect.flatMap(view, (views) => Handlers.move(views, "archive", params.id)),
      unarchive: ({ params }) =>
        Effect.flatMap(view, (views) => Handlers.move(views, "unarchive", params.id)),
    }),
  ),
)

const inputOf = (input: string | ReadonlyArray<InputItem>): ReadonlyArray<InputItem> =>
  typeof input === "string" ? [{ type: "text", text: input }] : input

/**
 * The response that streams the events of a conversation, in whichever process it is.
 *
 * @param lastEventId the header of a browser that connects again: it repeats the query, and what it has seen is in the header
 */
const streamed = (
  views: Parameters<typeof Handlers.followed>[0],
  id: string,
  query: { readonly after?: number; readonly answers?: string; readonly raw?: string },
  lastEventId: number | undefined,
) =>
  Effect.map(
    Handlers.followed(views, id, {
      from: (lastEventId ?? query.after ?? -1) + 1,
      answers: query.answers === "true",
    }),
    (listener) =>
      HttpServerResponse.stream(
        Stream.encodeText(eventStream(listener, { raw: query.raw === "true", all: true })),
        {
          contentType: "text/event-stream",
          headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
        },
      ),
  )

const turns = HttpApiBuilder.group(PlainApi, "turns", (handlers) =>
  Effect.map(access, ({ find, view }) =>
    handlers
      .handle("send", ({ params, payload, query }) =>
        Effect.gen(function* () {
          const { input, submissionId, whileRunning } = present(payload)
          const wait = query.wait === "true"
          const conversation = yield* wait
            ? Handlers.refer(yield* view, params.id)
            : find(params.id)
          const op = { type: "user_input" as const, items: inputOf(input) }
          const options = {
            ...(whileRunning === undefined ? {} : { whileRunning }),
            ...(submissionId === undefined ? {} : { id: submissionId }),
          }
          return yield* Handlers.send(conversation, op, options, wait)
        }),
      )
      .handle("interrupt", ({ params }) => Effect.flatMap(find(params.id), Handlers.interrupt))
      .handle("questions", ({ params }) =>
        Effect.flatMap(view, (views) =>
          Effect.map(Handlers.questions(views, params.id), (items) => ({ items })),
        ),
      )
      .handle("answer", ({ params, payload }) =>
        Effect.flatMap(find(params.id), (conversation) =>
          Effect.asVoid(Handlers.answer(conversation, params.seq, payload)),
        ),
      )
      .handleRaw("events", ({ headers, params, query }) =>
        Effect.flatMap(view, (views) =>
          streamed(views, params.id, query, headers["last-event-id"]),
        ),
      ),
  ),
)

/**
 * Serves the plain API on the router. Each request is served with the view of the principal that `guarded` has found, so
 * what belongs to another one is unknown to it, and a layer without a guard serves nobody.
 */
export const layer = HttpApiBuilder.layer(PlainApi, { openapiPath: "/v1/openapi.json" }).pipe(
  Layer.provide([conversations, turns]),
  Layer.provide(errorsLayer),
)
