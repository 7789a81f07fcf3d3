/** How what an embedder's code fails with goes on: as an answer to the request, or as an internal error that is logged. */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import { InputRequired } from "../mcp/RequestContext.ts"

export const internalError = (): JsonRpcError =>
  new JsonRpcError({ code: ErrorCode.internalError, message: "Internal error" })

/** True for what the client is told, or asked, as it is. */
export const isAnswer = (failure: unknown): failure is JsonRpcError | InputRequired =>
  failure instanceof JsonRpcError || failure instanceof InputRequired

const member = (of: object, name: string): string | undefined => {
  const value: unknown = Reflect.get(of, name)
  return typeof value === "string" && value !== "" ? value : undefined
}

/** The words of a failure, for a model or a log: its message, its tag, or itself as JSON. */
export const messageOf = (failure: unknown): string => {
  if (typeof failure === "string") return failure
  if (typeof failure !== "object" || failure === null) return String(failure)
  return member(failure, "message") ?? member(failure, "_tag") ?? JSON.stringify(failure)
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
