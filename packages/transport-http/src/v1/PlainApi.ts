/**
 * The plain API for `curl` and browsers: one definition per route, from which the routes, the OpenAPI document and a typed
 * client are derived. Parameters and results are those of the app-server's methods where it has one.
 */
import {
  ForkConversation,
  GetConversation,
  ListConversations,
} from "@colloquy/protocol/app/Conversations"
import { ConversationOverrides, Count, maybe, Uuid } from "@colloquy/protocol/app/Fields"
import {
  InterruptConversation,
  SendUserMessage,
  WhileRunning,
} from "@colloquy/protocol/app/Messages"
import { EventMsg } from "@colloquy/protocol/EventMsg"
import { ChosenSubmissionId } from "@colloquy/protocol/Ids"
import { ReviewDecision, TurnAbortReason } from "@colloquy/protocol/Policy"
import { InputItem } from "@colloquy/protocol/ResponseItem"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { plainErrors } from "./PlainError.ts"

/** Gives every error of a route the form of this API, also those of a request that no handler sees. */
export class PlainErrors extends HttpApiMiddleware.Service<PlainErrors>()(
  "@colloquy/transport-http/PlainErrors",
  { error: plainErrors },
) {}

/** A conversation, as the routes that create or read one return it. */
const Conversation = GetConversation.successSchema

/** Where a turn ended. */
const TurnEnd = Schema.Struct({
  ...SendUserMessage.successSchema.fields,
  status: Schema.Literals(["completed", "aborted"]),
  /** Number of the terminal event. */
  seq: Schema.Int,
  /** Null when the agent said nothing. Absent for an aborted turn. */
  lastAgentMessage: Schema.optionalKey(Schema.NullOr(Schema.String)),
  /** Present for an aborted turn. */
  abortReason: Schema.optionalKey(TurnAbortReason),
  /** The last error of the turn, if it had one. */
  error: Schema.optionalKey(Schema.String),
})
/** A decoded result of a turn. */
export type TurnEnd = typeof TurnEnd.Type

/** What the user says: a text, or a list of texts and images. */
const Input = Schema.Union([Schema.String, Schema.Array(InputItem).check(Schema.isMinLength(1))])

/** A pending question: the event that asks it. */
const Question = Schema.Struct({ seq: Schema.Int, id: Schema.String, msg: EventMsg })

/** An answer: a decision for a command or a patch, an action for the form of a tool server. */
export const Answer = Schema.Union([
  Schema.Struct({ decision: ReviewDecision }),
  Schema.Struct({
    action: Schema.Literals(["accept", "decline", "cancel"]),
    content: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  }),
])

const conversation = { id: Uuid }
const path = "/v1/conversations"

const flag = Schema.Literals(["true", "false"])

/** Number of the last event that the client has; -1 for none. */
const after = Schema.Int.check(Schema.isGreaterThanOrEqualTo(-1))

const created = HttpApiSchema.status(201)
const accepted = HttpApiSchema.status(202)

/** The routes about conversations. */
const Conversations = HttpApiGroup.make("conversations").add(
  HttpApiEndpoint.post("create", path, {
    payload: ConversationOverrides,
    success: Conversation.pipe(created),
  }).annotate(OpenApi.Summary, "Creates a conversation. No turn starts yet."),
  HttpApiEndpoint.get("list", path, {
    query: {
      limit: Schema.optionalKey(Schema.Int),
      cursor: Schema.optionalKey(Schema.String),
      archived: Schema.optionalKey(flag),
    },
    success: ListConversations.successSchema,
  }).annotate(OpenApi.Summary, "Lists the conversations of the principal, newest first."),
  HttpApiEndpoint.get("get", `${path}/:id`, {
    params: conversation,
    success: Conversation,
  }).annotate(OpenApi.Summary, "Reports the current state and settings of a conversation."),
  HttpApiEndpoint.post("fork", `${path}/:id/fork`, {
    params: conversation,
    payload: Schema.Struct({
      dropLastMessages: ForkConversation.payloadSchema.fields.dropLastMessages,
      beforeMessage: ForkConversation.payloadSchema.fields.beforeMessage,
    }),
    success: Conversation.pipe(created),
  }).annotate(OpenApi.Summary, "Creates a conversation from the beginning of another one."),
  HttpApiEndpoint.post("archive", `${path}/:id/archive`, {
    params: conversation,
    success: HttpApiSchema.NoContent,
  }).annotate(OpenApi.Summary, "Ends a conversation and archives it."),
  HttpApiEndpoint.post("unarchive", `${path}/:id/unarchive`, {
    params: conversation,
    success: HttpApiSchema.NoContent,
  }).annotate(OpenApi.Summary, "Makes an archived conversation available again."),
)

/** The routes about what happens in a conversation. */
const Turns = HttpApiGroup.make("turns").add(
  HttpApiEndpoint.post("send", `${path}/:id/turns`, {
    params: conversation,
    query: { wait: Schema.optionalKey(flag) },
    payload: Schema.Struct({
      input: Input,
      whileRunning: maybe(WhileRunning),
      /** Chosen by the client: input that is sent again with the same id has no further effect. */
      submissionId: maybe(ChosenSubmissionId),
    }),
    // The end comes first: it has the members of the acceptance as well.
    success: [TurnEnd, SendUserMessage.successSchema.pipe(accepted)],
  }).annotate(
    OpenApi.Summary,
    "Submits user input. Responds when it was accepted, or with `wait=true` when its turn has ended.",
  ),
  HttpApiEndpoint.post("interrupt", `${path}/:id/interrupt`, {
    params: conversation,
    success: InterruptConversation.successSchema,
  }).annotate(OpenApi.Summary, "Interrupts the running turn and responds when it has ended."),
  HttpApiEndpoint.get("questions", `${path}/:id/questions`, {
    params: conversation,
    success: Schema.Struct({ items: Schema.Array(Question) }),
  }).annotate(OpenApi.Summary, "Lists the pending questions."),
  HttpApiEndpoint.post("answer", `${path}/:id/questions/:seq`, {
    params: { ...conversation, seq: Count },
    payload: Answer,
    success: HttpApiSchema.NoContent,
  }).annotate(OpenApi.Summary, "Answers a pending question. The first answer counts."),
  HttpApiEndpoint.get("events", `${path}/:id/events`, {
    params: conversation,
    query: {
      after: Schema.optionalKey(after),
      answers: Schema.optionalKey(flag),
      raw: Schema.optionalKey(flag),
    },
    headers: { "last-event-id": Schema.optionalKey(after) },
    success: HttpApiSchema.StreamSse({ data: Schema.Unknown }),
  }).annotate(
    OpenApi.Summary,
    "Streams the events after a number: recorded ones, one `synced`, then live ones. `id` is the number of a durable event.",
  ),
)

const security = [{ token: [] }]

/** Says in the document that every operation needs a bearer token; the guard in front of the routes checks it. */
const withBearer = (document: Readonly<Record<string, unknown>>) => {
  const { components, paths = {}, ...rest } = document as Partial<OpenApi.OpenAPISpec>
  // The empty list that the library writes at an operation would say that it needs no token.
  const secured = Object.entries(paths).map(([path, { get, post }]) => [
    path,
    {
      ...(post === undefined ? {} : { post: { ...post, security } }),
      ...(get === undefined ? {} : { get: { ...get, security } }),
    },
  ])
  return {
    ...rest,
    paths: Object.fromEntries(secured),
    components: { ...components, securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  }
}

/** Members that a route does not know are refused: a misspelt policy would silently be the default one. */
const strict = { onExcessProperty: "error" } as const

/** The whole API. */
export const PlainApi = HttpApi.make("colloquy")
  .add(Conversations)
  .add(Turns)
  .middleware(PlainErrors)
  .annotate(HttpApi.PayloadParseOptions, strict)
  .annotate(HttpApi.QueryParseOptions, strict)
  .annotate(OpenApi.Transform, withBearer)
  .annotate(OpenApi.Title, "Colloquy")
  .annotate(OpenApi.Version, "1")
