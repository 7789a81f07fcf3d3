/**
 * Failures of the embedding program's code. A `JsonRpcError` or `InputRequired` is the response to the request; any
 * other failure is logged, and the client gets an internal error without its text.
 */
import { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import { internalError } from "../jsonrpc/PeerErrors.ts"
import { InputRequired } from "../mcp/RequestContext.ts"

/** Whether the failure is sent to the client unchanged, as an error or as questions. */
export const isClientError = (failure: unknown): failure is JsonRpcError | InputRequired =>
  failure instanceof JsonRpcError || failure instanceof InputRequired

const member = (of: object, name: string): string | undefined => {
  const value: unknown = Reflect.get(of, name)
  return typeof value === "string" && value !== "" ? value : undefined
}

/** The text of a failure, for a model or a log: its message, else its tag, else the failure as JSON. */
export const messageOf = (failure: unknown): string => {
  if (typeof failure === "string") return failure
  if (typeof failure !== "object" || failure === null) return String(failure)
  return member(failure, "message") ?? member(failure, "_tag") ?? JSON.stringify(failure)
}

/**
 * Passes on the failures that are meant for the client; logs all others and replaces them with an internal error.
 *
 * @param what the part that failed, for the log: `prompt review`
 */
export const toClientError =
  (what: string) =>
  (failure: unknown): Effect.Effect<never, JsonRpcError | InputRequired> =>
    isClientError(failure)
      ? Effect.fail(failure)
      : Effect.andThen(
          Effect.logError(`${what} failed: ${messageOf(failure)}`),
          Effect.fail(internalError()),
        )
