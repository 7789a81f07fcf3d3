/**
 * What both wires have in common: a decoder of one response's server-sent events. Plain functions over
 * mutable state, one decoder per response: tens of thousands of deltas a second pass here.
 */
import type { ModelError, ModelEvent } from "@colloquy/core/ModelClient"
import { parseJson } from "@colloquy/protocol/Json"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { malformed } from "./Failures.ts"

/**
 * - `open`: the answer is still coming; an end now is too early.
 * - `answered`: only a rest may follow (usage, the end marker); whoever waits for it waits briefly.
 * - `done`: `Completed` was given; nothing more is read.
 */
export type Phase = "open" | "answered" | "done"

export interface WireDecoder {
  readonly phase: () => Phase
  /** Reads the data of one event and appends what it means to `out`; gives the fault of the stream, if it has one. */
  readonly event: (data: string, out: Array<ModelEvent>) => ModelError | undefined
  /** The stream is over: appends what was held back, or gives the reason why the answer is not whole. */
  readonly end: (out: Array<ModelEvent>) => ModelError | undefined
}

/** One line for people out of a schema's message of several; never holds the value itself. */
export const oneLine = (issue: Schema.SchemaError): string =>
  issue.message
    .split("\n")
    .map((line) => line.trim())
    .join(" ")

/** The value of an event's data; the fault tells its length and not its text, which may be anything. */
export const parseEvent = (
  data: string,
): { readonly value: unknown } | { readonly fault: ModelError } => {
  const json = parseJson(data)
  return Result.isSuccess(json)
    ? { value: json.success }
    : { fault: malformed(`event of ${data.length} characters is ${json.failure.message}`) }
}
