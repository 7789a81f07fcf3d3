/**
 * How a peer serves a request that its table of methods does not: a dialect with several revisions decides per request.
 */
import type { Fault } from "@colloquy/protocol/Faults"
import { ErrorCode, JsonRpcError, type RequestId } from "@colloquy/protocol/JsonRpc"
import type { Codec } from "@colloquy/protocol/Method"
import type * as Effect from "effect/Effect"
import type { RequestCaller } from "./Caller.ts"
import { rpcError } from "./PeerErrors.ts"

/** What serves one request: its codec and its handler. */
export interface Route {
  /**
   * Called when the request is accepted, before later messages are read. The function that it returns is called at the
   * end.
   */
  readonly begins?: (id: RequestId) => (() => void) | undefined
  /** Decodes the params and encodes the result. */
  readonly codec: Pick<Codec, "info" | "decodeParams" | "encodeResult">
  readonly handler: (params: unknown, caller: RequestCaller) => Effect.Effect<unknown, JsonRpcError>
  /** The error for params that do not match. Default: code -32602. `fault` names each invalid member. */
  readonly badParams?: (fault: string, issues: ReadonlyArray<Fault>) => JsonRpcError
}

/** The error -32601 for a method that is not served. */
export const methodNotFound = (method: string): JsonRpcError =>
  rpcError(ErrorCode.methodNotFound, `Method not found: ${method}`, { method })

/** True if the request cannot be served because its method is unknown. */
export const isMethodNotFound = (found: Route | JsonRpcError): found is JsonRpcError =>
  found instanceof JsonRpcError && found.code === ErrorCode.methodNotFound
