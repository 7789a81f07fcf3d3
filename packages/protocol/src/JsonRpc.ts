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

/** An integer beyond the safe range, kept as the digits that were sent; `JSON.stringify` writes them back. */
export interface RawInteger {
  readonly rawJSON: string
}

/** String or integer, echoed exactly as sent (recording 0.29 `malformed`: 2^53+1, -5 and "" come back verbatim). */
export type RequestId = string | number | RawInteger

interface RawJson {
  readonly rawJSON: (text: string) => RawInteger
  readonly isRawJSON: (u: unknown) => u is RawInteger
}
const rawJson = JSON as unknown as RawJson

export const RequestId: Schema.Codec<RequestId> = Schema.Union([
  Schema.String,
  Schema.Int,
  Schema.declare<RawInteger>((u): u is RawInteger => rawJson.isRawJSON(u), {
    identifier: "RawInteger",
    // What another program is told of it: an integer like any other.
    toCodecJson: () =>
      Schema.link<RawInteger>()(
        Schema.Int,
        SchemaTransformation.transform({
          decode: (n) => rawJson.rawJSON(String(n)),
          encode: ({ rawJSON }) => Number(rawJSON),
        }),
      ),
  }),
])

/** UTF-16 units of a text, or digits: what names a request comes back with it, and with all that is told of it. */
const maxIdLength = 128 * 1024

/** Of a name that is kept, or told again and again. */
export const maxShortLength = 1024

const isUpTo = (max: number, id: RequestId): boolean =>
  typeof id === "number" || (typeof id === "string" ? id : id.rawJSON).length <= max

export const isShort = (id: RequestId): boolean => isUpTo(maxShortLength, id)

/** The id as text: `1` and `"1"` give the same text, so this is no key. */
export const requestIdText = (id: RequestId): string =>
  typeof id === "object" ? id.rawJSON : String(id)

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
}
/** Not a message. `answerable` is false for what only a response could have been: answering it would echo for ever. */
export interface Invalid {
  readonly _tag: "Invalid"
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

const isObject = (u: unknown): u is Record<string, unknown> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** A run of digits that a double may have to round. */
const longInteger = /\d{16}/
const digits = /^-?\d+$/

interface Context {
  readonly source?: string
}

/** The `_meta` of a message's params: where MCP names the token of a request's progress. */
const metaOf = (root: unknown): unknown => {
  const params = isObject(root) ? root["params"] : undefined
  return isObject(params) ? params["_meta"] : undefined
}

/**
 * `JSON.parse` that keeps all digits where a request is named: in the envelope's own `id`, in any `requestId`, and in
 * `params._meta.progressToken`. Everywhere else integers are rounded as ever.
 */
const parseExact = (text: string): unknown => {
  const ids: Array<readonly [holder: unknown, key: string, id: RawInteger]> = []
  const root: unknown = JSON.parse(text, function (this: unknown, key, value, context?: Context) {
    const source = context?.source ?? ""
    if (typeof value !== "number" || Number.isSafeInteger(value) || !digits.test(source)) {
      return value
    }
    if (key === "requestId") return rawJson.rawJSON(source)
    // Which `id` is the envelope's own is known when the envelope is.
    if (key === "id" || key === "progressToken") ids.push([this, key, rawJson.rawJSON(source)])
    return value
  })
  const envelopes: ReadonlyArray<unknown> = Array.isArray(root) ? root : [root]
  const holders: Readonly<Record<string, ReadonlySet<unknown>>> = {
    id: new Set(envelopes),
    progressToken: new Set(envelopes.map(metaOf)),
  }
  for (const [holder, key, id] of ids) {
    if (holders[key]?.has(holder) === true) Object.assign(holder as object, { [key]: id })
  }
  return root
}

const parseValue = (text: string): unknown =>
  longInteger.test(text) ? parseExact(text) : JSON.parse(text)

const readId = (id: unknown): RequestId | undefined => {
  if (typeof id === "string" || rawJson.isRawJSON(id)) return id
  return typeof id === "number" && Number.isInteger(id) ? id : undefined
}

/** Real messages nest a few levels; what reads them later may go down them by recursion. */
const maxDepth = 256

/** Goes down level by level, so that no depth is too much for it. */
const isTooDeep = (value: unknown): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    const next: Array<unknown> = []
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue
      for (const inner of Object.values(one)) {
        if (typeof inner === "object" && inner !== null) next.push(inner)
      }
    }
    level = next
  }
  return false
}

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
    default:
      return { _tag: "Invalid", id: null, answerable: message._tag === "Invalid", error }
  }
}

/** Reads one text. Never throws. */
export const parseFrame = (text: string): Message | Batch => {
  let value: unknown
  try {
    value = parseValue(text)
  } catch (fault) {
    // Where digits have to be kept the parser goes down by recursion.
    const problem = fault instanceof RangeError ? "nested too deep" : "not one JSON value"
    return invalid(null, ErrorCode.parseError, `Parse error: the line is ${problem}`)
  }
  // Each level is two characters at least.
  const mayBeDeep = text.length > 2 * maxDepth
  const read = (one: unknown): Message => {
    const message = classify(one)
    return mayBeDeep && isTooDeep(one) ? tooDeep(message) : message
  }
  return Array.isArray(value) ? { _tag: "Batch", messages: value.map(read) } : read(value)
}

/** The answer to a batch where none is taken. */
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

const classify = (value: unknown): Message => {
  if (!isObject(value)) {
    return invalid(null, ErrorCode.invalidRequest, "Invalid Request: expected an object")
  }
  const id = readId(value["id"])
  if ("method" in value) return classifyCall(value, id)
  if ("result" in value || "error" in value) return classifyResponse(value, id)
  return invalid(id ?? null, ErrorCode.invalidRequest, "Invalid Request: `method` is missing")
}

const classifyCall = (value: Record<string, unknown>, id: RequestId | undefined): Message => {
  const method = value["method"]
  if (typeof method !== "string") {
    return invalid(
      id ?? null,
      ErrorCode.invalidRequest,
      "Invalid Request: `method` must be a string",
    )
  }
  const params = value["params"]
  if (!("id" in value)) return { _tag: "Notification", method, params }
  if (id === undefined) {
    return invalid(
      null,
      ErrorCode.invalidRequest,
      "Invalid Request: `id` must be a string or an integer",
    )
  }
  if (!isUpTo(maxIdLength, id)) {
    return invalid(
      id,
      ErrorCode.invalidRequest,
      `Invalid Request: \`id\` is longer than ${maxIdLength} characters`,
    )
  }
  if (params !== undefined && params !== null && typeof params !== "object") {
    return invalid(id, ErrorCode.invalidRequest, "Invalid Request: `params` must be an object")
  }
  return { _tag: "Request", id, method, params }
}

const classifyResponse = (value: Record<string, unknown>, id: RequestId | undefined): Message => {
  if ("result" in value) {
    return id === undefined
      ? invalid(null, ErrorCode.invalidRequest, "response without a usable id", false)
      : { _tag: "Success", id, result: value["result"] }
  }
  const error = isObject(value["error"]) ? value["error"] : {}
  return {
    _tag: "Failure",
    id: id ?? null,
    error: new JsonRpcError({
      code:
        typeof error["code"] === "number" && Number.isInteger(error["code"])
          ? error["code"]
          : ErrorCode.internalError,
      message: typeof error["message"] === "string" ? error["message"] : "error without a message",
      ...("data" in error ? { data: error["data"] } : {}),
    }),
  }
}

/** The texts of outgoing messages; `params` and `result` are already encoded. */
export const requestText = (id: RequestId, method: string, params: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) })

export const notificationText = (method: string, params: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) })

export const successText = (id: RequestId, result: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {} })

export const failureText = (id: RequestId | null, error: JsonRpcError): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    error: {
      code: error.code,
      message: error.message,
      ...(error.data === undefined ? {} : { data: error.data }),
    },
  })
