/**
 * What the offline model answers, as data: a list of responses, each a list of steps. Pure.
 *
 * Owns the JSON form and its strict decoding: if a misspelt step were ignored, the model would
 * silently do nothing.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const callId = Schema.optionalKey(Schema.String)

/** One step of a response; steps are performed in order. */
export const OfflineStep = Schema.Union([
  /**
   * An assistant message. It is streamed in `deltas`, whose concatenation is the message, or word
   * by word.
   */
  Schema.Struct({
    text: Schema.String,
    deltas: Schema.optionalKey(Schema.Array(Schema.String)),
  }),
  /** A reasoning summary. */
  Schema.Struct({ reasoning: Schema.String }),
  /** `arguments` that are not a string are sent as their JSON text. */
  Schema.Struct({
    tool_call: Schema.Struct({ name: Schema.String, arguments: Schema.Unknown, call_id: callId }),
  }),
  Schema.Struct({
    custom_tool_call: Schema.Struct({
      name: Schema.String,
      input: Schema.String,
      call_id: callId,
    }),
  }),
  Schema.Struct({ delay_ms: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)) }),
  /**
   * Ends the response with a failure. Retryable unless it says otherwise, or that the request is
   * too long.
   */
  Schema.Struct({
    error: Schema.Struct({
      message: Schema.String,
      retryable: Schema.optionalKey(Schema.Boolean),
      reason: Schema.optionalKey(Schema.Literal("context_window")),
    }),
  }),
  /** Reported instead of the computed usage. Absent members are 0; the total is their sum. */
  Schema.Struct({
    usage: Schema.Struct({
      input_tokens: Schema.optionalKey(Schema.Int),
      cached_input_tokens: Schema.optionalKey(Schema.Int),
      output_tokens: Schema.optionalKey(Schema.Int),
      reasoning_output_tokens: Schema.optionalKey(Schema.Int),
      total_tokens: Schema.optionalKey(Schema.Int),
    }),
  }),
])
/** One step of a response. */
export type OfflineStep = typeof OfflineStep.Type

/** A script: responses in order, each a list of steps. */
export const OfflineScript = Schema.Array(Schema.Array(OfflineStep))
/** A script: responses in order, each a list of steps. */
export type OfflineScript = typeof OfflineScript.Type

/** The value is not a script; `message` names the place and what was expected. */
export class OfflineScriptError extends Schema.TaggedError<OfflineScriptError>()(
  "OfflineScriptError",
  { message: Schema.String },
) {}

const decodeUnknown = Schema.decodeUnknownResult(OfflineScript, {
  errors: "all",
  onExcessProperty: "error",
})

/** Decodes parsed JSON. */
export const decode = (json: unknown): Result.Result<OfflineScript, OfflineScriptError> =>
  Result.mapError(
    decodeUnknown(json),
    (issue) => new OfflineScriptError({ message: `offline script: ${issue.message}` }),
  )
