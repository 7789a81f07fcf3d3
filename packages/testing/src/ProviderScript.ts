/**
 * The script of a model provider as data: the vocabulary of its replies. `ProviderBody` renders them, and
 * `MemoryProvider` and `MockProvider` serve them.
 */
import * as Duration from "effect/Duration"

/** The Responses or the Chat Completions API. */
export type ProviderWire = "responses" | "chat"

/** Token usage in the shape of the provider; `undefined` members are omitted. */
export interface ProviderUsage {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
  readonly total: number
}

/** The usage in the recordings, for example packages/server/test/fixtures/v0.29.0/simple.jsonl. */
export const defaultUsage: ProviderUsage = {
  input: 11,
  cached: 3,
  output: 7,
  reasoning: 2,
  total: 18,
}

/** One step of a streamed response, in order. */
export type ProviderStep =
  /** A whole assistant message: its deltas, then the finished item. */
  | { readonly _tag: "Message"; readonly deltas: ReadonlyArray<string> }
  /** Deltas without a finished item; `times` repeats them. */
  | { readonly _tag: "Deltas"; readonly deltas: ReadonlyArray<string>; readonly times: number }
  /** A reasoning item of several summary parts, each a list of deltas. */
  | { readonly _tag: "Reasoning"; readonly parts: ReadonlyArray<ReadonlyArray<string>> }
  | {
      readonly _tag: "ToolCall"
      readonly name: string
      readonly arguments: string
      readonly callId: string
    }
  | {
      readonly _tag: "CustomToolCall"
      readonly name: string
      readonly input: string
      readonly callId: string
    }
  /** One `data:` line with this JSON. */
  | { readonly _tag: "Event"; readonly event: unknown }
  /** These bytes, unchanged. */
  | { readonly _tag: "Raw"; readonly text: string }
  | { readonly _tag: "Delay"; readonly duration: Duration.Duration }
  /** Ends the body without the closing frames. */
  | { readonly _tag: "End" }
  /** Breaks the connection. */
  | { readonly _tag: "Drop" }
  /** Sends nothing more and keeps the connection open. */
  | { readonly _tag: "Hang" }

/** The response to one request. */
export type ProviderReply =
  | {
      readonly _tag: "Stream"
      readonly steps: ReadonlyArray<ProviderStep>
      /** `null`: the provider reports no usage. */
      readonly usage: ProviderUsage | null
    }
  | {
      readonly _tag: "Status"
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  /** Breaks the connection before any header. */
  | { readonly _tag: "Refuse" }
  /** Accepts the request and never responds. */
  | { readonly _tag: "Silence" }

/** One request, as a script receives it. */
export interface ProviderCall {
  /** Index of the request at this provider, from 0. */
  readonly index: number
  readonly wire: ProviderWire
  readonly body: unknown
  /** Text of the last message of the role `user`; empty without one. */
  readonly lastUserText: string
}

/** A list: request n gets reply n, and a request beyond the list the status 400 with a message. A function decides per request. */
export type ProviderScript = ReadonlyArray<ProviderReply> | ((call: ProviderCall) => ProviderReply)

// Steps

/** A message of several deltas. */
export const deltas = (...pieces: ReadonlyArray<string>): ProviderStep => ({
  _tag: "Message",
  deltas: pieces,
})
/** A message of one delta. */
export const text = (whole: string): ProviderStep => deltas(whole)
/** Deltas without a finished item. */
export const bareDeltas = (...pieces: ReadonlyArray<string>): ProviderStep => ({
  _tag: "Deltas",
  deltas: pieces,
  times: 1,
})
/** `times` equal deltas and the finished item, for benchmarks. */
export const manyDeltas = (piece: string, times: number): ProviderStep => ({
  _tag: "Message",
  deltas: Array.from({ length: times }, () => piece),
})
/** A reasoning item; each part is the list of its deltas. */
export const reasoning = (...parts: ReadonlyArray<ReadonlyArray<string>>): ProviderStep => ({
  _tag: "Reasoning",
  parts,
})
/** A function call; `args` is sent as JSON text, a string unchanged. */
export const toolCall = (name: string, args: unknown, callId: string): ProviderStep => ({
  _tag: "ToolCall",
  name,
  arguments: typeof args === "string" ? args : JSON.stringify(args),
  callId,
})
/** A call of a freeform tool. */
export const customToolCall = (name: string, input: string, callId: string): ProviderStep => ({
  _tag: "CustomToolCall",
  name,
  input,
  callId,
})
/** An event with this JSON. */
export const event = (json: unknown): ProviderStep => ({ _tag: "Event", event: json })
/** These bytes, unchanged. */
export const raw = (bytes: string): ProviderStep => ({ _tag: "Raw", text: bytes })
/** An event that is no JSON. */
export const garbage: ProviderStep = raw("data: {not json\n\n")
/** An event of `chars` characters. */
export const oversized = (chars: number): ProviderStep =>
  event({ type: "padding", text: "x".repeat(chars) })
/** A delay on the clock of the provider. */
export const delay = (duration: Duration.Input): ProviderStep => ({
  _tag: "Delay",
  duration: Duration.fromInputUnsafe(duration),
})
/** Ends the body without the closing frames. */
export const end: ProviderStep = { _tag: "End" }
/** Breaks the connection. */
export const drop: ProviderStep = { _tag: "Drop" }
/** Sends nothing more and keeps the connection open. */
export const hang: ProviderStep = { _tag: "Hang" }

// Replies

/** A streamed response of these steps. */
export const reply = (...steps: ReadonlyArray<ProviderStep>): ProviderReply => ({
  _tag: "Stream",
  steps,
  usage: defaultUsage,
})
/** A streamed response that reports this usage. */
export const replyWithUsage = (
  usage: ProviderUsage | null,
  ...steps: ReadonlyArray<ProviderStep>
): ProviderReply => ({ _tag: "Stream", steps, usage })
/** A response with this status. */
export const status = (
  code: number,
  options?: {
    readonly body?: string
    readonly headers?: Readonly<Record<string, string>>
  },
): ProviderReply => ({
  _tag: "Status",
  status: code,
  headers: options?.headers ?? {},
  body: options?.body ?? "",
})
/** A response with the status 429; `after` is in seconds, or an HTTP date. */
export const tooManyRequests = (after?: number | string): ProviderReply =>
  status(429, after === undefined ? {} : { headers: { "retry-after": String(after) } })
/** Breaks the connection before any header. */
export const refuse: ProviderReply = { _tag: "Refuse" }
/** Accepts the request and never responds. */
export const silence: ProviderReply = { _tag: "Silence" }

/** A script of rules: the first rule whose pattern occurs in the last user message decides; an empty pattern matches always. */
export const byLastUserText =
  (rules: ReadonlyArray<readonly [pattern: string, reply: ProviderReply]>): ProviderScript =>
  (call) =>
    rules.find(([pattern]) => call.lastUserText.includes(pattern))?.[1] ??
    status(400, { body: `no rule for ${JSON.stringify(call.lastUserText)}` })

/** The reply of a script to one request. */
export const replyTo = (script: ProviderScript, call: ProviderCall): ProviderReply =>
  typeof script === "function"
    ? script(call)
    : (script[call.index] ??
      status(400, {
        body: `the script has ${script.length} replies, this is request ${call.index + 1}`,
      }))
