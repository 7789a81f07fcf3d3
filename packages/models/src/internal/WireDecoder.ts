/**
 * What both wires share: the decoder of one response's server-sent events, and the one place that decides for each event
 * whether it is used, skipped, or ends the response. Plain functions over mutable state, one decoder per response: tens of
 * thousands of deltas a second pass here.
 *
 *     data ── no data, not JSON, not an object, `{}` ──────────────► skipped, with a note
 *      ├───── `[DONE]`, `DONE` ─────────────────────► wire.marker ─┐
 *      └───── an object ────────────────────────────► wire.object ─┴► used | skipped | completed | failed
 */
import type { ModelError, ModelEvent } from "@colloquy/core/ModelClient"
import { parseJson } from "@colloquy/protocol/Json"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { streamFailure } from "./Failures.ts"
import { isObject, type JsonObject } from "./JsonObject.ts"

/**
 * - `open`: the answer is incomplete; the end of the stream is premature.
 * - `answered`: only usage and the end marker may follow; the reader waits for them briefly.
 * - `done`: `Completed` was emitted; nothing more is read.
 */
type Phase = "open" | "answered" | "done"

/** The outcome of one event. Without a member the event was used, or is of a kind that has no meaning here. */
export interface Reading {
  /** For the log: what was skipped, or what is unusual; never quotes the provider's data. */
  readonly note?: string
  /** Ends the stream with this failure. */
  readonly error?: ModelError
  /** The last event of a good stream. */
  readonly completed?: Extract<ModelEvent, { readonly _tag: "Completed" }>
}

export const used: Reading = {}
export const skipped = (what: string): Reading => ({ note: `skipped ${what}` })
export const failed = (error: ModelError): Reading => ({ error })

/** What one wire makes of the events that are usable. */
export interface Wire {
  /** Appends what the event means to `out`. */
  readonly object: (value: JsonObject, out: Array<ModelEvent>) => Reading
  /** The provider declares the end of the stream. */
  readonly marker: (out: Array<ModelEvent>) => Reading
  /** The stream ended without a marker: appends what was held back, or fails because the answer is incomplete. */
  readonly end: (out: Array<ModelEvent>) => Reading
  /** True once the provider has finished the answer, or reported why there is none. */
  readonly isAnswered: () => boolean
  /** True when at least one part of an answer was read. */
  readonly hasAnswer: () => boolean
}

export interface WireDecoder {
  readonly phase: () => Phase
  /** Reads the data of one event and appends what it means to `out`. */
  readonly event: (data: string, out: Array<ModelEvent>) => Reading
  /** The stream is over: appends what was held back, or fails because the answer is incomplete. */
  readonly end: (out: Array<ModelEvent>) => Reading
}

/** One line for people out of a schema's message of several; never holds the value itself. */
export const oneLine = (issue: Schema.SchemaError): string =>
  issue.message
    .split("\n")
    .map((line) => line.trim())
    .join(" ")

type Classified =
  | { readonly _tag: "Object"; readonly value: JsonObject }
  | { readonly _tag: "Marker" }
  /** `lossy`: the data may have been a part of the answer. */
  | { readonly _tag: "Skipped"; readonly what: string; readonly lossy: boolean }

const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`

const classify = (data: string): Classified => {
  // Mock servers of the original end a stream with a bare DONE.
  if (data === "[DONE]" || data === "DONE") return { _tag: "Marker" }
  if (data.trim() === "") return { _tag: "Skipped", what: "an event without data", lossy: false }
  const json = parseJson(data)
  if (Result.isFailure(json)) {
    const what = `an event of ${data.length} characters that is ${json.failure.message}`
    return { _tag: "Skipped", what, lossy: true }
  }
  const value = json.success
  if (!isObject(value)) {
    const what = `an event whose data is ${kindOf(value)} where an object was expected`
    return { _tag: "Skipped", what, lossy: false }
  }
  if (Object.keys(value).length === 0) {
    return { _tag: "Skipped", what: "an event whose data is an empty object", lossy: false }
  }
  return { _tag: "Object", value }
}

const unreadable = (): Reading =>
  failed(streamFailure("the answer could not be read: every part of it was malformed"))

/** The decoder of one response. */
export const makeWireDecoder = (wire: Wire): WireDecoder => {
  let isDone = false
  let lossy = false
  const finish = (reading: Reading, out: Array<ModelEvent>): Reading => {
    if (reading.completed === undefined) return reading
    // An empty answer is good only when no event was lost that may have held one.
    if (lossy && !wire.hasAnswer()) return unreadable()
    isDone = true
    out.push(reading.completed)
    return reading
  }
  return {
    phase: () => (isDone ? "done" : wire.isAnswered() ? "answered" : "open"),
    event: (data, out) => {
      if (isDone) return used
      const event = classify(data)
      if (event._tag === "Skipped") {
        lossy ||= event.lossy
        return skipped(event.what)
      }
      return finish(event._tag === "Marker" ? wire.marker(out) : wire.object(event.value, out), out)
    },
    end: (out) => (isDone ? used : finish(wire.end(out), out)),
  }
}
