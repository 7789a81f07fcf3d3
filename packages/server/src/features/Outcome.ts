/** How what an embedder's code fails with goes on: as an answer to the request, or as an internal error that is logged. */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import { InputRequired } from "../mcp/RequestContext.ts"

export const internalError = (): JsonRpcError =>
  new JsonRpcError({ code: ErrorCode.internalError, message: "Internal error" })

/** True for what the client is told, or asked, as it is. */
export const isAnswer = (failure: unknown): failure is JsonRpcError | InputRequired =>
  failure instanceof JsonRpcError || failure instanceof InputRequired

/** The words of a failure, for a model or a log. */
export const messageOf = (failure: unknown): string => {
  if (typeof failure === "string") return failure
  const message: unknown =
    typeof failure === "object" && failure !== null ? Reflect.get(failure, "message") : undefined
  if (typeof message === "string" && message !== "") return message
  const tag: unknown =
    typeof failure === "object" && failure !== null ? Reflect.get(failure, "_tag") : undefined
  return typeof tag === "string" ? tag : "the failure has no message"
}

/** Failures that are no answer are told to the log, and to the client that something broke. */
export const answered =
  (what: string) =>
  (failure: unknown): Effect.Effect<never, JsonRpcError | InputRequired> =>
    isAnswer(failure)
      ? Effect.fail(failure)
      : Effect.andThen(
          Effect.logError(`${what} failed: ${messageOf(failure)}`),
          Effect.fail(internalError()),
        )
