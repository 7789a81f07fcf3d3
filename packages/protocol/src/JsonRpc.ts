/**
 * The JSON-RPC 2.0 envelope: parsing one text into one classified message and writing messages back.
 *
 * Owns the shape of requests, notifications and responses and nothing else: no method, no fiber, no I/O.
 * Keeps L13: every text gets a classification, none throws.
 *
 * Everything that the original accepts is accepted: a missing or foreign `jsonrpc` member, CRLF, any string or integer id.
 * What the original ignores silently gets an error: invalid JSON, batches, invalid ids. Both are in
 * packages/server/test/fixtures/v0.29.0/malformed.jsonl.
 */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { type Envelope, scan } from "./EnvelopeScan.ts"
import {
  hasTooManyValues,
  isObject,
  isRawInteger,
  isTooDeep,
  maxDepth,
  maxValues,
  parseJson,
  type RawInteger,
  rawInteger,
} from "./internal/JsonText.ts"
import { memberOf } from "./NullAsAbsent.ts"
import { errorMessage, shortened } from "./text/Shortened.ts"

/**
 * The id of a request: a string, an integer of the safe range in any spelling, or an integer beyond it that is written in
 * digits only. It is sent back unchanged (packages/server/test/fixtures/v0.29.0/malformed.jsonl: 2^53+1, -5 and ""), names its
 * request in cancellations and progress, and has at most `maxIdLength` characters. `isRequestId` is the check, for the `id` of
 * a message and for every id in params.
 */
export type RequestId = string | number | RawInteger

/** UTF-16 code units of a string, or digits. An id is repeated in every message about its request, so it is bounded. */
const maxIdLength = 128 * 1024

/** Characters of a name that is stored, or repeated in many messages. */
export const maxShortLength = 1024

const isUpTo = (max: number, id: RequestId): boolean =>
  typeof id === "number" || (typeof id === "string" ? id : id.rawJSON).length <= max

/** True for an id of at most `maxShortLength` characters. */
export const isShort = (id: RequestId): boolean => isUpTo(maxShortLength, id)

const isInteger = (u: unknown): u is number | RawInteger =>
  typeof u === "number" ? Number.isSafeInteger(u) : isRawInteger(u)

const isOfIdType = (u: unknown): u is RequestId => typeof u === "string" || isInteger(u)

/** True for a valid id. */
export const isRequestId = (u: unknown): u is RequestId => isOfIdType(u) && isUpTo(maxIdLength, u)

export const RequestId: Schema.Codec<RequestId> = Schema.Union([
  Schema.String,
  Schema.Int,
  Schema.declare<RawInteger>((u): u is RawInteger => isRawInteger(u), {
    identifier: "RawInteger",
    // Other programs see an integer like any other.
    toCodecJson: () =>
      Schema.link<RawInteger>()(
        Schema.Int,
        SchemaTransformation.transform({
          decode: (n) => rawInteger(String(n)),
          encode: ({ rawJSON }) => Number(rawJSON),
        }),
      ),
  }),
]).check(
  Schema.makeFilter((id) =>
    isRequestId(id) ? undefined : `Expected at most ${maxIdLength} characters`,
  ),
)

/** The id as a text. `1` and `"1"` give the same text, so it must not be used as a key. */
export const requestIdText = (id: RequestId): string =>
  typeof id === "object" ? id.rawJSON : String(id)

/**
 * The error for a request whose id is already in use. The id is in `data`: a response with that id could be taken for the
 * response to the earlier request.
 */
export const idInUse = (id: RequestId): JsonRpcError =>
  new JsonRpcError({
    code: ErrorCode.invalidRequest,
    message: `Invalid Request: the id ${shortened(JSON.stringify(id), 100)} is in use by a request still in flight`,
    data: { id },
  })

/** A key for an id; ids of different JSON types have different keys. */
export const requestIdKey = (id: RequestId): string | number =>
  typeof id === "string" ? `s${id}` : typeof id === "number" ? id : `n${id.rawJSON}`

/** Error codes of JSON-RPC 2.0, section 5.1, and the two codes of Colloquy's own use. */
export const ErrorCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** The client has cancelled the request (Language Server Protocol 3.17, `RequestCancelled`). */
  requestCancelled: -32800,
  /** The connection or the server is closing, or a limit of this server was reached. */
  serverError: -32000,
} as const

/** The error of every method: `code`, a `message` that names the fault, optional `data`. */
export class JsonRpcError extends Schema.TaggedError<JsonRpcError>()("JsonRpcError", {
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Unknown),
}) {}

/** A request of the peer. */
export interface Request {
  readonly _tag: "Request"
  readonly id: RequestId
  readonly method: string
  readonly params: unknown
}
/** A notification of the peer. */
export interface Notification {
  readonly _tag: "Notification"
  readonly method: string
  readonly params: unknown
}
/** A response with a result. */
export interface Success {
  readonly _tag: "Success"
  readonly id: RequestId
  readonly result: unknown
}
/** A response with an error. */
export interface Failure {
  readonly _tag: "Failure"
  /** `null` when the peer could not determine which request failed. */
  readonly id: RequestId | null
  readonly error: JsonRpcError
  /** The fault of the response itself, when `error` is not the one that the peer sent. */
  readonly fault?: string
}
/**
 * Not a valid message. `answerable` is false for notifications and for a text that could only have been a response: an error
 * as its response could be answered by another error, without end.
 */
export interface Invalid {
  readonly _tag: "Invalid"
  /** The id of the response: any number can be sent back, also one that is no valid request id. */
  readonly id: RequestId | null
  readonly error: JsonRpcError
  readonly answerable: boolean
  /** True for an object without `method`, `result` and `error`: where a request with its id is pending, its response. */
  readonly mayBeResponse?: true
}
/** Every kind of message. */
export type Message = Request | Notification | Success | Failure | Invalid

/** An array of messages (JSON-RPC 2.0, section 6). Only some revisions of MCP accept it. */
export interface Batch {
  readonly _tag: "Batch"
  readonly messages: ReadonlyArray<Message>
}

const invalid = (
  id: RequestId | null,
  code: number,
  message: string,
  answerable = true,
): Invalid => ({
  _tag: "Invalid",
  id,
  error: new JsonRpcError({ code, message }),
  answerable,
})

/** The message for bytes that could not be read as a text: a line that is too long, or invalid UTF-8. */
export const unreadable = (message: string): Invalid => invalid(null, ErrorCode.parseError, message)

const deep = (what: string, code: number) =>
  new JsonRpcError({ code, message: `${what} nested deeper than ${maxDepth} levels` })

const tooDeep = (message: Message): Message => {
  const error = deep("Invalid params:", ErrorCode.invalidParams)
  switch (message._tag) {
    case "Request":
      return { _tag: "Invalid", id: message.id, answerable: true, error }
    case "Success":
    case "Failure":
      // The caller gets an error in place of the result.
      return {
        _tag: "Failure",
        id: message.id,
        error: deep("the result is", ErrorCode.internalError),
      }
    case "Notification":
      return { _tag: "Invalid", id: null, answerable: false, error }
    case "Invalid":
      // It already has its id and says whether it may be answered.
      return message
  }
}

const tokenId = (token: string | undefined): unknown => {
  try {
    const value = parseJson(`{"id":${token ?? null}}`)
    return isObject(value) ? value["id"] : undefined
  } catch {
    return undefined
  }
}

/** The id of a message that was scanned; `undefined` when it has none that is valid. */
export const idOf = (envelope: Envelope): RequestId | undefined => {
  const id = tokenId(envelope.idToken)
  return isRequestId(id) ? id : undefined
}

/** The message for a text that is not parsed: a request gets an error, and a response counts as a failure. */
const unread = (envelope: Envelope | undefined, code: number, fault: string): Message => {
  if (envelope?.kind === "response") {
    const message = `the response cannot be read: ${fault}`
    const error = new JsonRpcError({ code: ErrorCode.internalError, message })
    return { _tag: "Failure", id: idOf(envelope) ?? null, error, fault }
  }
  const name = code === ErrorCode.parseError ? "Parse error" : "Invalid Request"
  const error = new JsonRpcError({ code, message: `${name}: ${fault}` })
  // JSON-RPC 2.0, section 4.1: a notification gets no response. A text that may have had an id gets one with a null id.
  const answerable = envelope?.kind !== "notification"
  return { _tag: "Invalid", id: echoOf(tokenId(envelope?.idToken)), error, answerable }
}

/** A line that was discarded because it has more than `maxBytes` bytes. */
export interface OverlongLine {
  readonly bytes: number
  readonly maxBytes: number
  /** Name of the setting of `maxBytes`, if there is one. */
  readonly setting?: string
  /** What was read of the message without keeping it. */
  readonly envelope?: Envelope
}

/** The message for a line that was discarded because it is too long. The text names the setting of the limit. */
export const overlong = ({ bytes, envelope, maxBytes, setting }: OverlongLine): Message => {
  const limit = `the limit is ${maxBytes}${setting === undefined ? "" : ` (setting \`${setting}\`)`}`
  return unread(envelope, ErrorCode.invalidRequest, `a line of ${bytes} bytes, ${limit}`)
}

/** Reads one text. Never throws. */
export const parseFrame = (text: string): Message | Batch => {
  let value: unknown
  try {
    if (hasTooManyValues(text)) {
      const fault = `more than ${maxValues} values in one message`
      return unread(scan(text), ErrorCode.invalidRequest, fault)
    }
    value = parseJson(text)
  } catch (fault) {
    // The parser recurses where digits have to be kept; such a text may be valid.
    return fault instanceof RangeError
      ? unread(scan(text), ErrorCode.parseError, "the message is nested too deep")
      : invalid(null, ErrorCode.parseError, "Parse error: the message is not one JSON value")
  }
  // A level takes at least two characters.
  const mayBeDeep = text.length > 2 * maxDepth
  const read = (one: unknown): Message => {
    const message = classify(one)
    return mayBeDeep && isTooDeep(one) ? tooDeep(message) : message
  }
  return Array.isArray(value) ? { _tag: "Batch", messages: value.map(read) } : read(value)
}

/** The response to a batch where none is accepted. */
export const noBatches = (): Invalid =>
  invalid(
    null,
    ErrorCode.invalidRequest,
    "Invalid Request: batches are not supported, send each message by itself",
  )

/** Reads one text that must be one message. Never throws. */
export const parse = (text: string): Message => {
  const read = parseFrame(text)
  return read._tag === "Batch" ? noBatches() : read
}

/** The id of an error response: that of the request when it is a string or a number, else null. */
const echoOf = (id: unknown): RequestId | null =>
  isOfIdType(id) || (typeof id === "number" && Number.isFinite(id)) ? id : null

const classify = (value: unknown): Message => {
  if (!isObject(value)) {
    return invalid(null, ErrorCode.invalidRequest, "Invalid Request: expected an object")
  }
  const isResponse = "result" in value || "error" in value
  // Peers that write every member of a record send `"method": null` with a response.
  if ("method" in value && !(isResponse && value["method"] === null)) return classifyCall(value)
  if (isResponse) return classifyResponse(value)
  return { ...invalidCall(value["id"], "`method` is missing"), mayBeResponse: true }
}

const invalidCall = (id: unknown, fault: string): Invalid =>
  invalid(echoOf(id), ErrorCode.invalidRequest, `Invalid Request: ${fault}`)

const idFault = (id: unknown): string => {
  if (isOfIdType(id)) return `\`id\` is longer than ${maxIdLength} characters`
  const range = typeof id === "number" ? ", beyond ±9007199254740991 in digits alone" : ""
  return `\`id\` must be a string or an integer${range}`
}

const classifyCall = (value: Record<string, unknown>): Message => {
  const { id, method, params } = value
  if (typeof method !== "string") return invalidCall(id, "`method` must be a string")
  if (!("id" in value)) return { _tag: "Notification", method, params }
  if (!isRequestId(id)) return invalidCall(id, idFault(id))
  if (params !== undefined && params !== null && typeof params !== "object") {
    return invalidCall(id, "`params` must be an object")
  }
  return { _tag: "Request", id, method, params }
}

const classifyResponse = (value: Record<string, unknown>): Message => {
  const id = isRequestId(value["id"]) ? value["id"] : null
  const error = memberOf(value, "error")
  // With both members it is a failure: an approval in doubt runs no command (L7). An empty error says nothing.
  const isError = error !== undefined && !(isObject(error) && Object.keys(error).length === 0)
  if (!("result" in value) || isError) {
    return { _tag: "Failure", id, ...readError(value["error"]) }
  }
  return id === null
    ? invalid(null, ErrorCode.invalidRequest, "response without a usable id", false)
    : { _tag: "Success", id, result: value["result"] }
}

/** The error that a peer sent. Never throws: everything that the error class would reject is checked here. */
const readError = (sent: unknown): Pick<Failure, "error" | "fault"> => {
  const { code, message, ...rest } = isObject(sent) ? sent : {}
  const isCode = Number.isSafeInteger(code)
  const isText = typeof message === "string"
  const faults = [
    ...(isCode ? [] : ["its code is no integer within ±9007199254740991"]),
    ...(isText ? [] : ["its message is no string"]),
  ]
  return {
    error: new JsonRpcError({
      code: isCode ? Number(code) : ErrorCode.internalError,
      message: isText ? message : "error without a message",
      ...("data" in rest ? { data: rest["data"] } : {}),
    }),
    ...(faults.length === 0 ? {} : { fault: `malformed error: ${faults.join(", ")}` }),
  }
}

/**
 * Whether messages have the member `jsonrpc`: `2.0` with it, as JSON-RPC 2.0 requires; `bare` without it, as the app-server
 * of the original writes them since October 2025.
 */
export type MessageForm = "2.0" | "bare"

/** The text of a request. `params` are already encoded; undefined leaves the member out. */
export const requestText = (
  id: RequestId,
  method: string,
  params: unknown,
  form: MessageForm = "2.0",
): string => {
  const rest = { id, method, ...(params === undefined ? {} : { params }) }
  return JSON.stringify(form === "bare" ? rest : { jsonrpc: "2.0", ...rest })
}

/** The text of a notification. `params` are already encoded as JSON; undefined leaves the member out. */
export const notificationText = (
  method: string,
  params: unknown,
  form: MessageForm = "2.0",
): string => {
  // Joined from its parts, because an object around each delta costs as much as the delta.
  const start = form === "bare" ? "{" : '{"jsonrpc":"2.0",'
  const rest = params === undefined ? "}" : `,"params":${JSON.stringify(params)}}`
  return `${start}"method":${JSON.stringify(method)}${rest}`
}

/** The text of a response with a result, which is already encoded; undefined is written as `{}`. */
export const successText = (id: RequestId, result: unknown, form: MessageForm = "2.0"): string =>
  form === "bare"
    ? JSON.stringify({ id, result: result ?? {} })
    : JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {} })

/** The text of a response with an error, whose message is bounded. `id` is null where the request cannot be named. */
export const failureText = (
  id: RequestId | null,
  { code, data, message }: Pick<JsonRpcError, "code" | "data" | "message">,
  form: MessageForm = "2.0",
): string => {
  const bounded = { code, message: errorMessage(message) }
  const rest = { id, error: { ...bounded, ...(data === undefined ? {} : { data }) } }
  return JSON.stringify(form === "bare" ? rest : { jsonrpc: "2.0", ...rest })
}
