/**
 * What both wires have in common: a decoder of one response's server-sent events. Plain functions over
 * mutable state, one decoder per response: tens of thousands of deltas a second pass here.
 */
import type { ModelError, ModelEvent } from "@colloquy/core/ModelClient"
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
  issue.message.replaceAll(/\s*\n\s*/g, " ")

/** `JSON.parse` that tells what it could not read by its length, not by its text: that may be anything. */
export const parseJson = (
  data: string,
): { readonly value: unknown } | { readonly fault: ModelError } => {
  try {
    return { value: JSON.parse(data) }
  } catch {
    return { fault: malformed(`event of ${data.length} characters is not JSON`) }
  }
}
