/**
 * What a fake model provider says, as data, and a pure renderer to server-sent events of both wires (§6.5, §6.6).
 *
 * Owns the script vocabulary and the frames; serves nothing (see `MemoryProvider` and `MockProvider`).
 * No clock and no randomness: the same script gives the same bytes (L12).
 */
import * as Duration from "effect/Duration"
import * as Frames from "./internal/ProviderFrames.ts"

export type ProviderWire = "responses" | "chat"

/** In the provider's own shape; `undefined` members are left out. */
export interface ProviderUsage {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
  readonly total: number
}

/** The usage of the recordings, for example 0.29 `simple`. */
export const defaultUsage: ProviderUsage = {
  input: 11,
  cached: 3,
  output: 7,
  reasoning: 2,
  total: 18,
}

/** One step of a streamed answer, in order. */
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
  /** Bytes as they are. */
  | { readonly _tag: "Raw"; readonly text: string }
  | { readonly _tag: "Delay"; readonly duration: Duration.Duration }
  /** Ends the body without the closing frames. */
  | { readonly _tag: "End" }
  /** Breaks the connection. */
  | { readonly _tag: "Drop" }
  /** Says nothing more and keeps the connection open. */
  | { readonly _tag: "Hang" }

/** What one request is answered with. */
export type ProviderReply =
  | {
      readonly _tag: "Stream"
      readonly steps: ReadonlyArray<ProviderStep>
      /** `null`: the provider reports none. */
      readonly usage: ProviderUsage | null
    }
  | {
      readonly _tag: "Status"
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  /** The connection breaks before any header. */
  | { readonly _tag: "Refuse" }
  /** The request is taken and never answered. */
  | { readonly _tag: "Silence" }

/** One request as a script sees it. */
export interface ProviderCall {
  /** Counts from 0 per provider. */
  readonly index: number
  readonly wire: ProviderWire
  readonly body: unknown
  /** Text of the last message of role `user`; empty without one. */
  readonly lastUserText: string
}

/** Request n gets reply n; a request beyond the list gets status 400 that says so. A function decides itself. */
export type ProviderScript = ReadonlyArray<ProviderReply> | ((call: ProviderCall) => ProviderReply)

/** One thing a server does with the body of a reply. */
export type ProviderAction =
  | { readonly _tag: "Write"; readonly text: string }
  | { readonly _tag: "Wait"; readonly duration: Duration.Duration }
  | { readonly _tag: "Drop" }
  | { readonly _tag: "Hang" }

// Steps

/** A message of several deltas; `text("a")` is a message of one. */
export const deltas = (...pieces: ReadonlyArray<string>): ProviderStep => ({
  _tag: "Message",
  deltas: pieces,
})
export const text = (whole: string): ProviderStep => deltas(whole)
/** Deltas alone, for streams that never finish their item. */
export const bareDeltas = (...pieces: ReadonlyArray<string>): ProviderStep => ({
  _tag: "Deltas",
  deltas: pieces,
  times: 1,
})
/** `times` equal deltas and the finished item: a benchmark's stream. */
export const manyDeltas = (piece: string, times: number): ProviderStep => ({
  _tag: "Message",
  deltas: Array.from({ length: times }, () => piece),
})
/** Each part is the list of its deltas. */
export const reasoning = (...parts: ReadonlyArray<ReadonlyArray<string>>): ProviderStep => ({
  _tag: "Reasoning",
  parts,
})
/** `args` is sent as JSON text; a string is sent as it is. */
export const toolCall = (name: string, args: unknown, callId: string): ProviderStep => ({
  _tag: "ToolCall",
  name,
  arguments: typeof args === "string" ? args : JSON.stringify(args),
  callId,
})
export const customToolCall = (name: string, input: string, callId: string): ProviderStep => ({
  _tag: "CustomToolCall",
  name,
  input,
  callId,
})
export const event = (json: unknown): ProviderStep => ({ _tag: "Event", event: json })
export const raw = (bytes: string): ProviderStep => ({ _tag: "Raw", text: bytes })
export const garbage: ProviderStep = raw("data: {not json\n\n")
/** One event of `chars` characters. */
export const oversized = (chars: number): ProviderStep =>
  event({ type: "padding", text: "x".repeat(chars) })
export const delay = (duration: Duration.Input): ProviderStep => ({
  _tag: "Delay",
  duration: Duration.fromInputUnsafe(duration),
})
export const end: ProviderStep = { _tag: "End" }
export const drop: ProviderStep = { _tag: "Drop" }
export const hang: ProviderStep = { _tag: "Hang" }

// Replies

export const reply = (...steps: ReadonlyArray<ProviderStep>): ProviderReply => ({
  _tag: "Stream",
  steps,
  usage: defaultUsage,
})
export const replyWithUsage = (
  usage: ProviderUsage | null,
  ...steps: ReadonlyArray<ProviderStep>
): ProviderReply => ({ _tag: "Stream", steps, usage })
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
/** `after` in seconds, or an HTTP date. */
export const tooManyRequests = (after?: number | string): ProviderReply =>
  status(429, after === undefined ? {} : { headers: { "retry-after": String(after) } })
export const refuse: ProviderReply = { _tag: "Refuse" }
export const silence: ProviderReply = { _tag: "Silence" }

/** The first rule whose pattern is in the last user message decides; the last rule's pattern may be empty. */
export const byLastUserText =
  (rules: ReadonlyArray<readonly [pattern: string, reply: ProviderReply]>): ProviderScript =>
  (call) =>
    rules.find(([pattern]) => call.lastUserText.includes(pattern))?.[1] ??
    status(400, { body: `no rule for ${JSON.stringify(call.lastUserText)}` })

/** The script's answer to one request. */
export const replyTo = (script: ProviderScript, call: ProviderCall): ProviderReply =>
  typeof script === "function"
    ? script(call)
    : (script[call.index] ??
      status(400, {
        body: `the script has ${script.length} replies, this is request ${call.index + 1}`,
      }))

/**
 * What a server does with the body of a streamed reply. Frames without a delay between them come as one
 * write, so that tens of thousands of deltas cost few packets; put a `delay` of zero to split.
 */
export const render = (
  wire: ProviderWire,
  { steps, usage }: Extract<ProviderReply, { readonly _tag: "Stream" }>,
): ReadonlyArray<ProviderAction> => {
  const actions: Array<ProviderAction> = []
  const frames = wire === "responses" ? Frames.responses() : Frames.chat()
  let pending = frames.open
  const flush = () => {
    if (pending.length > 0) actions.push({ _tag: "Write", text: pending })
    pending = ""
  }
  for (const step of steps) {
    switch (step._tag) {
      case "Delay":
        flush()
        actions.push({ _tag: "Wait", duration: step.duration })
        break
      case "End":
        flush()
        return actions
      case "Drop":
      case "Hang":
        flush()
        actions.push({ _tag: step._tag })
        return actions
      default:
        pending += frames.step(step)
    }
  }
  pending += frames.close(usage)
  flush()
  return actions
}
