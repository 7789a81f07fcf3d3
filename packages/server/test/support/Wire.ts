/** Parses messages of the wire for tests: one loosely typed message per text, with the digits of large integers kept. */
import * as Schema from "effect/Schema"

const Open = Schema.Record(Schema.String, Schema.Unknown)

const Event = Schema.Struct({
  _meta: Schema.optionalKey(Open),
  id: Schema.String,
  msg: Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [Open]),
})

const CallResult = Schema.Struct({
  content: Schema.Array(Schema.Struct({ type: Schema.String, text: Schema.String })),
  structuredContent: Schema.optionalKey(Open),
  isError: Schema.optionalKey(Schema.Boolean),
})

export interface WireMessage {
  readonly jsonrpc?: string
  readonly id?: unknown
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** An integer that a double cannot hold reads as `#` and its digits. */
const exact = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)
    ? `#${context?.source}`
    : value

/** Fails the test on anything that is not one JSON object per text. */
export const read = (text: string): WireMessage => {
  const value: unknown = JSON.parse(text, exact)
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`not a message: ${text}`)
  }
  return value
}

export const event = (message: WireMessage): typeof Event.Type =>
  Schema.decodeUnknownSync(Event)(message.params)

/** The events of one request, in order. */
export const eventsOf = (messages: ReadonlyArray<WireMessage>, requestId: unknown) =>
  messages
    .filter(({ method }) => method === "codex/event")
    .map(event)
    .filter(({ _meta }) => _meta?.["requestId"] === requestId)

/** The types of one request's events, in order. */
export const typesOf = (messages: ReadonlyArray<WireMessage>, requestId: unknown) =>
  eventsOf(messages, requestId).map(({ msg }) => msg.type)

export const callResult = ({ result }: WireMessage): typeof CallResult.Type =>
  Schema.decodeUnknownSync(CallResult)(result)

/** The answer of a tool call: the first text of its result, as clients read it. */
export const textOf = (message: WireMessage): string => callResult(message).content[0]?.text ?? ""

/** The whole content of a result with this text: the text, then the id for the model. */
export const contentOf = (threadId: unknown, text: string) => [
  { type: "text", text },
  {
    type: "text",
    text: `threadId: ${String(threadId)} (pass it to codex-reply to continue this conversation)`,
    annotations: { audience: ["assistant"] },
  },
]

/** The conversation that a result names. */
export const threadOf = (message: WireMessage): string =>
  String(callResult(message).structuredContent?.["threadId"])
