/**
 * Creates the text of the response to a request in every case: the handler returns a result, fails, dies, or returns a
 * value that JSON cannot represent. Keeps its part of L1 and L13: a defect anywhere here is logged and becomes an
 * internal error for that request.
 */
import { describeFaults, faultsOf } from "@colloquy/protocol/Faults"
import {
  ErrorCode,
  failureText,
  type JsonRpcError,
  type MessageForm,
  type RequestId,
  successText,
} from "@colloquy/protocol/JsonRpc"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Route } from "./Route.ts"

/** The text of an internal error. */
export const internalText = (id: RequestId | null, form: MessageForm): string =>
  failureText(id, { code: ErrorCode.internalError, message: "Internal error" }, form)

/**
 * The text of an error about a message whose id a request in flight uses. Its `id` is null, because otherwise it could
 * be mistaken for that request's response; `data.id` has the id.
 */
export const unidentifiedText = (
  id: RequestId,
  { code, data, message }: JsonRpcError,
  form: MessageForm,
): string => failureText(null, { code, message, data: { ...Object(data), id } }, form)

const resultText = (
  id: RequestId,
  codec: Route["codec"],
  result: unknown,
  form: MessageForm,
): Effect.Effect<string> => {
  const encoded = codec.encodeResult(result)
  if (encoded._tag === "Success") return Effect.succeed(successText(id, encoded.success, form))
  const text = describeFaults("result", faultsOf(encoded.failure))
  return Effect.as(
    Effect.logError(`a handler broke its method's schema: ${text}`),
    internalText(id, form),
  )
}

const errorText = (
  id: RequestId,
  cause: Cause.Cause<JsonRpcError>,
  form: MessageForm,
): Effect.Effect<string> => {
  const failure = cause.reasons.find(Cause.isFailReason)
  return failure === undefined
    ? Effect.as(
        Effect.logError("a request handler failed with a defect", cause),
        internalText(id, form),
      )
    : Effect.succeed(failureText(id, failure.error, form))
}

/** Runs the handler and resolves with the text of its response. Never fails; an interruption produces no text. */
export const responseText = (
  id: RequestId,
  codec: Route["codec"],
  handler: Effect.Effect<unknown, JsonRpcError>,
  form: MessageForm,
): Effect.Effect<string> =>
  Effect.matchCauseEffect(handler, {
    onFailure: (cause) => errorText(id, cause, form),
    onSuccess: (result) => resultText(id, codec, result, form),
  }).pipe(
    // A schema may throw, and JSON has neither circles nor big integers.
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("a response could not be encoded", defect), internalText(id, form)),
    ),
  )
