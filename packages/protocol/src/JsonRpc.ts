/**
 * The JSON-RPC 2.0 envelope: parsing one text into one classified message and writing messages back.
 *
 * Owns the shape of requests, notifications and responses and nothing else: no method, no fiber, no I/O.
 * Keeps L13: every text gets a classification, none throws.
 *
 * What the original accepts is accepted (recording 0.29 `malformed`): a missing or foreign `jsonrpc` member,
 * CRLF, any string or integer id. What it drops in silence is answered: bad JSON, batches, bad ids.
 */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import type { Frame } from "./Connection.ts"
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

/**
 * The id of a request: a string, an integer of the safe range in any spelling, or an integer beyond it that is written in
 * digits alone. Each is echoed as it was sent (recording 0.29 `malformed`: 2^53+1, -5 and "" come back verbatim), names
 * its request in cancellations and progress, and has at most `maxIdLength` characters. `isRequestId` decides what is one,
 * for the `id` of a message and for every id inside of params.
 */
export type RequestId = string | number | RawInteger

/** UTF-16 units of a string, or digits: an id is repeated in every message about its request. */
const maxIdLength = 128 * 1024

/** Longest text that names something and is stored, or repeated in many messages. */
export const maxShortLength = 1024

const isUpTo = (max: number, id: RequestId): boolean =>
  typeof id === "number" || (typeof id === "string" ? id : id.rawJSON).length <= max

export const isShort = (id: RequestId): boolean => isUpTo(maxShortLength, id)

const isInteger = (u: unknown): u is number | RawInteger =>
  typeof u === "number" ? Number.isSafeInteger(u) : isRawInteger(u)

const isOfIdType = (u: unknown): u is RequestId => typeof u === "string" || isInteger(u)

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

/** The id as text: `1` and `"1"` give the same text, so this is no key. */
export const requestIdText = (id: RequestId): string =>
  typeof id === "object" ? id.rawJSON : String(id)

/** A response of this error carries the id in `data` and is without one itself where it could be taken for another's. */
export const idInUse = (id: RequestId): JsonRpcError =>
  new JsonRpcError({
    code: ErrorCode.invalidRequest,
    message: `Invalid Request: the id ${JSON.stringify(id).slice(0, 100)} is in use by a request still in flight`,
    data: { id },
  })

/** A key under which ids of different JSON types never meet. */
export const requestIdKey = (id: RequestId): string | number =>
  typeof id === "string" ? `s${id}` : typeof id === "number" ? id : `n${id.rawJSON}`

/** Error codes of JSON-RPC 2.0 section 5.1, and the one of the range left to servers that we use. */
export const ErrorCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Whoever asked has taken the request back (Language Server Protocol 3.17, `RequestCancelled`). */
  requestCancelled: -32800,
  /** The connection or the server is closing, or a limit of this server was reached. */
  serverError: -32000,
} as const

/** The error of every request: `code`, `message` naming the fault, optional `data`. */
export class JsonRpcError extends Schema.TaggedError<JsonRpcError>()("JsonRpcError", {
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Unknown),
}) {}

export interface Request {
  readonly _tag: "Request"
  readonly id: RequestId
  readonly method: string
  readonly params: unknown
}
export interface Notification {
  readonly _tag: "Notification"
  readonly method: string
  readonly params: unknown
}
export interface Success {
  readonly _tag: "Success"
  readonly id: RequestId
  readonly result: unknown
}
export interface Failure {
  readonly _tag: "Failure"
  /** `null` when the peer could not tell which request failed. */
  readonly id: RequestId | null
  readonly error: JsonRpcError
  /** What is wrong with the response itself, where `error` is not as the peer sent it. */
  readonly fault?: string
}
/**
 * Not a message. `answerable` is false for what only a response could have been, because answering it would echo for ever,
 * and for notifications.
 */
export interface Invalid {
  readonly _tag: "Invalid"
  /** For the response: any number can be echoed, also one that names no request. */
  readonly id: RequestId | null
  readonly error: JsonRpcError
  readonly answerable: boolean
}
export type Message = Request | Notification | Success | Failure | Invalid

/** An array of messages (JSON-RPC 2.0 section 6): only some revisions of MCP take it. */
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

/** A fault found before there was a message: an over-long line, bytes that are not UTF-8. */
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
      // Whoever asked is told what came instead of an answer.
      return {
        _tag: "Failure",
        id: message.id,
        error: deep("the result is", ErrorCode.internalError),
      }
    case "Notification":
      return { _tag: "Invalid", id: null, answerable: false, error }
    case "Invalid":
      // What is wrong with it already says which id it has, and whether it may be answered.
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

/** The message for a text that is not parsed: its sender gets a response, or its response is a failure. */
const unread = (envelope: Envelope | undefined, code: number, fault: string): Message => {
  if (envelope?.kind === "response") {
    const message = `the response cannot be read: ${fault}`
    const error = new JsonRpcError({ code: ErrorCode.internalError, message })
    return { _tag: "Failure", id: idOf(envelope) ?? null, error, fault }
  }
  const name = code === ErrorCode.parseError ? "Parse error" : "Invalid Request"
  const error = new JsonRpcError({ code, message: `${name}: ${fault}` })
  // JSON-RPC 2.0, section 4.1: a notification is never answered. What may have had an id is answered, under null.
  const answerable = envelope?.kind !== "notification"
  return { _tag: "Invalid", id: echoOf(tokenId(envelope?.idToken)), error, answerable }
}

/** A message that was discarded because it is longer than what is read; `setting` names what sets the limit. */
export const overlong = (frame: Extract<Frame, { readonly _tag: "TooLong" }>): Message => {
  const { bytes, envelope, maxBytes, setting } = frame
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
      ? unread(scan(text), ErrorCode.parseError, "the line is nested too deep")
      : invalid(null, ErrorCode.parseError, "Parse error: the line is not one JSON value")
  }
  // Each level is two characters at least.
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
    "Invalid Request: batches are not supported, send one message per line",
  )

/** Reads one text that must be one message. Never throws. */
export const parse = (text: string): Message => {
  const read = parseFrame(text)
  return read._tag === "Batch" ? noBatches() : read
}

/** What JSON-RPC allows as the id of an error: that of the request when it is a string or a number, else null. */
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
  return invalidCall(value["id"], "`method` is missing")
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
  const isSuccess = memberOf(value, "result") !== undefined || error === undefined
  if (!("result" in value) || !isSuccess) {
    return { _tag: "Failure", id, ...readError(value["error"]) }
  }
  return id === null
    ? invalid(null, ErrorCode.invalidRequest, "response without a usable id", false)
    : { _tag: "Success", id, result: value["result"] }
}

/** The error that a peer sent. Total: the class refuses what its schema does not allow, so all of it is checked here. */
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

/** The text of a notification. `params` are already encoded; undefined leaves the member out. */
export const notificationText = (
  method: string,
  params: unknown,
  form: MessageForm = "2.0",
): string => {
  const rest = { method, ...(params === undefined ? {} : { params }) }
  return JSON.stringify(form === "bare" ? rest : { jsonrpc: "2.0", ...rest })
}

/** The text of a response with a result, which is already encoded; undefined is written as `{}`. */
export const successText = (id: RequestId, result: unknown, form: MessageForm = "2.0"): string =>
  form === "bare"
    ? JSON.stringify({ id, result: result ?? {} })
    : JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {} })

/** The text of a response with an error. `id` is null where the request cannot be named. */
export const failureText = (
  id: RequestId | null,
  { code, data, message }: JsonRpcError,
  form: MessageForm = "2.0",
): string => {
  const rest = { id, error: { code, message, ...(data === undefined ? {} : { data }) } }
  return JSON.stringify(form === "bare" ? rest : { jsonrpc: "2.0", ...rest })
}
