/**
 * The errors of the plain API: one JSON object with a code, a sentence and, where one member of the request is at fault, its
 * name. The code decides the status. Pure.
 */
import { faultsOf } from "@colloquy/protocol/Faults"
import { oneLine } from "@colloquy/protocol/text/Shortened"
import type { ConversationsView } from "@colloquy/server/ConversationsView"
import { inUse } from "@colloquy/server/InUse"
import type * as Effect from "effect/Effect"
import type * as HttpApiError from "effect/http-api/HttpApiError"
import * as Schema from "effect/Schema"

const error = <const Code extends string>(code: Code, httpApiStatus: number, doc: string) =>
  Schema.Struct({
    code: Schema.Literal(code),
    message: Schema.String,
    /** Member of the request that is at fault, with dots between names. */
    field: Schema.optionalKey(Schema.String),
  }).annotate({ httpApiStatus, description: doc })

/** The process that has a conversation. */
const Owner = Schema.Struct({
  pid: Schema.optionalKey(Schema.Int),
  host: Schema.optionalKey(Schema.String),
  /** Time since when it has the conversation, in milliseconds since the epoch. */
  sinceMs: Schema.optionalKey(Schema.Finite),
  /** Base address under which it serves this API, if it publishes one. */
  url: Schema.optionalKey(Schema.String),
})

/** Every error, with its status. */
export const plainErrors = [
  error("invalid_request", 400, "The request is not valid. `field` names the member at fault."),
  error("not_found", 404, "Nothing of the principal has this id."),
  error("conflict", 409, "The state of the conversation does not allow the request now."),
  Schema.Struct({
    code: Schema.Literal("in_use"),
    message: Schema.String,
    owner: Owner,
  }).annotate({
    httpApiStatus: 409,
    description:
      "Another process of the same state directory has the conversation. The status is 307, with the address, where that process publishes one.",
  }),
  error("too_large", 413, "The input is larger than its limit."),
  error("limit_reached", 429, "A limit is reached; the request can be sent again later."),
  error("failed", 500, "The server could not carry out the request."),
  error("unavailable", 503, "The conversation or the server cannot be used now."),
] as const

/** An error of the plain API. */
export type PlainError = (typeof plainErrors)[number]["Type"]

/** Another process has the conversation. */
export type InUse = Extract<PlainError, { readonly code: "in_use" }>

/** True for the error of a request whose conversation another process has. */
export const isInUse = (error: unknown): error is InUse =>
  typeof error === "object" && error !== null && "code" in error && error.code === "in_use"

/** True for an error that may have passed when the request is sent again. */
export const isUnavailable = (
  error: unknown,
): error is Extract<PlainError, { code: "unavailable" }> =>
  typeof error === "object" && error !== null && "code" in error && error.code === "unavailable"

type Code = Exclude<PlainError, InUse>["code"]

/** A fault of the configuration has its key in a second line, as clients of other dialects expect. */
const make = (code: Code, message: string, field?: string): PlainError => ({
  code,
  message: oneLine(message),
  ...(field === undefined ? {} : { field }),
})

/** The request is not valid. */
export const invalid = (message: string, field?: string): PlainError =>
  make("invalid_request", message, field)

/** Nothing of the principal has this id. */
export const notFound = (message: string): PlainError => make("not_found", message)

/** The state of the conversation does not allow the request. */
export const conflict = (message: string): PlainError => make("conflict", message)

/** The conversation ended while the request waited for it. */
export const ended = (): PlainError => make("unavailable", "the conversation has ended")

/** The fault of a request that the schema of its route does not accept. */
export const invalidParts = ({ cause, kind }: HttpApiError.HttpApiSchemaError): PlainError => {
  const [first] = faultsOf(cause)
  const where = kind === "Payload" ? "body" : kind.toLowerCase()
  if (first === undefined || first.path.length === 0)
    return invalid(`${where}: ${first?.message ?? "expected another value"}`)
  const field = first.path.join(".")
  return invalid(`${field}: ${first.message}`, field)
}

type Views = ConversationsView["Service"]
type Conversation = Effect.Success<ReturnType<Views["get"]>>

/** Everything that the methods of a conversation and of a principal's view fail with. */
export type CoreError =
  | Effect.Error<ReturnType<Views[keyof Views]>>
  | Effect.Error<ReturnType<Conversation["submit"] | Conversation["attach"]>>
  | Effect.Error<Conversation["state"]>

type StoreFault = Extract<CoreError, { readonly _tag: "StoreError" }>

type Refusal = Extract<CoreError, { readonly _tag: "SubmissionRefused" }>

const refusalCodes: Readonly<Record<Refusal["reason"], Code>> = {
  UnsupportedOp: "invalid_request",
  TurnRunning: "conflict",
  NoTurnRunning: "conflict",
  NoSuchTurn: "not_found",
  TooManyWaiting: "limit_reached",
  NotQueued: "not_found",
  BadQueueChange: "invalid_request",
  ReadingChanged: "conflict",
  TooManyListings: "limit_reached",
  TooLarge: "too_large",
  DuplicateId: "conflict",
  TooManyTurns: "limit_reached",
  UnknownApproval: "not_found",
  ClosedApproval: "conflict",
  ForeignApproval: "conflict",
  OutsideWorkspace: "invalid_request",
}

/** The names that the request has for members of a rule or a query of the core. */
const fieldNames: Readonly<Record<string, string>> = {
  n: "dropLastMessages",
  nth: "beforeMessage",
}

/** The field that is not valid. */
const badFields = {
  BadConversationName: "name",
  BadClientTool: "clientTools",
  BadCursor: "cursor",
  BadPageLimit: "limit",
} as const

const unavailableCode = (
  because: Extract<CoreError, { readonly _tag: "ConversationUnavailable" }>["because"],
): Code => {
  switch (because?._tag) {
    case "ConversationArchived":
      return "conflict"
    case "NoSuchConversation":
      return "not_found"
    case "StoreLimit":
      return "too_large"
    case "TooManyConversations":
      return "limit_reached"
    case "StoreError":
      return because.reason === "Damaged" ? "failed" : "unavailable"
    default:
      return "unavailable"
  }
}

/** Why a store did not carry out what it may carry out a moment later. */
const passing: ReadonlyArray<StoreFault["reason"]> = ["Unreachable", "Exhausted", "Slow"]

/** The error of the plain API for one of the core. */
export const plainErrorOf = (cause: CoreError): PlainError => {
  const { message } = cause
  const data = inUse(cause)
  if (data !== undefined) return { code: "in_use", message, owner: data.owner }
  switch (cause._tag) {
    case "NoSuchConversation":
      return notFound(message)
    case "SubmissionRefused":
      return make(refusalCodes[cause.reason], message)
    case "BadForkRule": {
      const field = fieldNames[cause.field] ?? cause.field
      return invalid(`${field}: ${message.replace(/^\w+: /, "")}`, field)
    }
    case "BadConversationName":
    case "BadClientTool":
    case "BadCursor":
    case "BadPageLimit":
      return invalid(message, badFields[cause._tag])
    case "EventsFromFuture":
      return invalid(
        `after: expected at most ${cause.next - 1}, the last event; got ${cause.from - 1}`,
        "after",
      )
    case "LeaseHeld":
      return conflict(message)
    case "TooManyConversations":
    case "TooManyListeners":
      return make("limit_reached", message)
    case "ConversationUnavailable":
      return make(unavailableCode(cause.because), message)
    case "ConversationClosed":
    case "ManagerClosed":
      return make("unavailable", message)
    case "CannotResume":
      return invalid(message)
    case "StoreError":
      return make(passing.includes(cause.reason) ? "unavailable" : "failed", message)
  }
}
