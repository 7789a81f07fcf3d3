/** The errors with which a peer responds to messages that it does not serve. */
import { ErrorCode, type Invalid, JsonRpcError } from "@colloquy/protocol/JsonRpc"

/**
 * An error about a message of the peer, without a stack: its place in this program says nothing about the fault, and
 * finding it takes longer than the rest of the response.
 */
export const rpcError = (code: number, message: string, data?: unknown): JsonRpcError =>
  Object.assign(Object.create(JsonRpcError.prototype) as JsonRpcError, {
    _tag: "JsonRpcError" as const,
    code,
    message,
    ...(data === undefined ? {} : { data }),
  })

/** The error of a request that failed for a reason that is only logged. */
export const internalError = (): JsonRpcError => rpcError(ErrorCode.internalError, "Internal error")

/** The error of a request that is stopped at the end of the connection or the server: what it did so far is not undone. */
export const stoppedError = (): JsonRpcError =>
  rpcError(
    ErrorCode.serverError,
    "the server is shutting down; the request may have been carried out",
  )

/** A message that is no valid one. */
export const invalidRequest = (fault: string): Invalid => ({
  _tag: "Invalid",
  id: null,
  answerable: true,
  error: rpcError(ErrorCode.invalidRequest, `Invalid Request: ${fault}`),
})
