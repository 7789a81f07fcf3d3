/**
 * What the offline model says, as data: a list of responses, each a list of steps. Pure.
 *
 * Owns the JSON form and its decoding, which is strict: a misspelt step would otherwise be silence.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const callId = Schema.optionalKey(Schema.String)

/** One step of a response; steps are said in order. */
export const OfflineStep = Schema.Union([
  /** An assistant message. It streams in `deltas`, whose concatenation it then is, or word by word. */
  Schema.Struct({
    text: Schema.String,
    deltas: Schema.optionalKey(Schema.Array(Schema.String)),
  }),
  /** A reasoning summary. */
  Schema.Struct({ reasoning: Schema.String }),
  /** `arguments` that are no string are sent as their JSON text. */
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
  /** Ends the response with a failure; retryable unless it says otherwise, or that the request is too long. */
  Schema.Struct({
    error: Schema.Struct({
      message: Schema.String,
      retryable: Schema.optionalKey(Schema.Boolean),
      reason: Schema.optionalKey(Schema.Literal("context_window")),
    }),
  }),
  /** Instead of the computed usage; absent members are 0, the total is the sum. */
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
export type OfflineStep = typeof OfflineStep.Type

export const OfflineScript = Schema.Array(Schema.Array(OfflineStep))
export type OfflineScript = typeof OfflineScript.Type

/** The script is not one; `message` names the place and what was expected. */
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
