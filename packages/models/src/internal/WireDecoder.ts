/**
 * What both wires share: the decoder of one response's server-sent events, and the one place that
 * decides for each event whether it is used, skipped, or ends the response. Plain functions over
 * mutable state, one decoder per response, because tens of thousands of deltas a second pass here.
 *
 *     data ── no data, not JSON, not an object, `{}` ──────────────► skipped, with a note
 *      ├───── `[DONE]`, `DONE` ─────────────────────► wire.marker ─┐
 *      └───── an object ────────────────────────────► wire.object ─┴► used | skipped | completed | failed
 */
import type { ModelError, ModelEvent } from "@colloquy/core/ModelClient"
import { parseJson } from "@colloquy/protocol/Json"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { streamFailure } from "./failures/Failures.ts"
import { isObject, type JsonObject } from "./JsonObject.ts"

/**
 * - `open`: the answer is incomplete; the end of the stream is premature.
 * - `answered`: only usage and the end marker may follow; the reader waits for them briefly.
 * - `done`: `Completed` was emitted; nothing more is read.
 */
type Phase = "open" | "answered" | "done"

/**
 * The outcome of one event. Without members the event was used, or is of a kind that has no meaning
 * here.
 */
export interface Reading {
  /** Log text: what was skipped, or what is unusual. Never quotes the provider's data. */
  readonly note?: string
  /** What was skipped, if it may have been a part of the answer. */
  readonly lost?: string
  /** Ends the stream with this failure. */
  readonly error?: ModelError
  /** The last event of a successful stream. */
  readonly completed?: Extract<ModelEvent, { readonly _tag: "Completed" }>
  /**
   * The failure that replaces `completed` when the response has no answer and nothing of it was
   * skipped.
   */
  readonly unanswered?: ModelError
}

/** The event was used. */
export const used: Reading = {}
/** The event was skipped, and was not a part of the answer. */
export const skipped = (what: string): Reading => ({ note: `skipped ${what}` })
/**
 * As `skipped`, for what may have been a part of the answer: without another answer the response
 * fails and names it.
 */
export const lost = (what: string): Reading => ({ ...skipped(what), lost: what })
/** The stream ends with this failure. */
export const failed = (error: ModelError): Reading => ({ error })

/** How one wire interprets usable events. */
export interface Wire {
  /**
   * Appends what the event means to `out`. `hasGap`: an earlier event was not JSON and may have
   * been a delta.
   */
  readonly object: (value: JsonObject, out: Array<ModelEvent>, hasGap: boolean) => Reading
  /** The provider declares the end of the stream. */
  readonly marker: (out: Array<ModelEvent>) => Reading
  /**
   * The stream ended without a marker: appends what was held back, or fails because the answer is
   * incomplete.
   */
  readonly end: (out: Array<ModelEvent>) => Reading
  /** True once the provider has finished the answer, or reported why there is none. */
  readonly isAnswered: () => boolean
  /** True when a text or a tool call was read. */
  readonly hasAnswer: () => boolean
}

/** Decodes the events of one response. */
export interface WireDecoder {
  readonly phase: () => Phase
  /** Reads the data of one event and appends what it means to `out`. */
  readonly event: (data: string, out: Array<ModelEvent>) => Reading
  /**
   * The stream has ended: appends what was held back, or fails because the answer is incomplete.
   */
  readonly end: (out: Array<ModelEvent>) => Reading
}

/** Shortens a schema's message of several lines to one. It never contains the value itself. */
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

const unreadable = (what: string): Reading =>
  failed(streamFailure(`the answer could not be read: skipped ${what}`))

/** Creates the decoder of one response. */
export const makeWireDecoder = (wire: Wire): WireDecoder => {
  let isDone = false
  let firstLost: string | undefined
  let hasGap = false
  const finish = (reading: Reading, out: Array<ModelEvent>): Reading => {
    firstLost ??= reading.lost
    if (reading.completed === undefined) return reading
    // An empty answer is accepted only when no event was lost that may have contained one.
    if (!wire.hasAnswer()) {
      if (firstLost !== undefined) return unreadable(firstLost)
      if (reading.unanswered !== undefined) return failed(reading.unanswered)
    }
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
        if (event.lossy) {
          hasGap = true
          firstLost ??= event.what
        }
        return skipped(event.what)
      }
      const isMarker = event._tag === "Marker"
      return finish(isMarker ? wire.marker(out) : wire.object(event.value, out, hasGap), out)
    },
    end: (out) => (isDone ? used : finish(wire.end(out), out)),
  }
}
