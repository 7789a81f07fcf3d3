/** How a Peer serves a request beside its table of methods: what a dialect of several revisions decides for each. */
import type { Fault } from "@colloquy/protocol/Faults"
import { ErrorCode, JsonRpcError, type RequestId } from "@colloquy/protocol/JsonRpc"
import type { Codec } from "@colloquy/protocol/Method"
import type * as Effect from "effect/Effect"
import type { RequestCaller } from "./Caller.ts"

/** What serves one request: its codec and its handler. */
export interface Route {
  /** Called when the request is accepted, before a message that comes after it is read; what it gives, when it is over. */
  readonly begins?: (id: RequestId) => (() => void) | undefined
  /** What reads the params and writes the answer. */
  readonly codec: Pick<Codec, "info" | "decodeParams" | "encodeResult">
  readonly handler: (params: unknown, caller: RequestCaller) => Effect.Effect<unknown, JsonRpcError>
  /** What params that do not fit are answered with. Default: code -32602. `fault` names each member at fault. */
  readonly badParams?: (fault: string, issues: ReadonlyArray<Fault>) => JsonRpcError
}

/** The error -32601 for a method that is not served. */
export const methodNotFound = (method: string): JsonRpcError =>
  new JsonRpcError({
    code: ErrorCode.methodNotFound,
    message: `Method not found: ${method}`,
    data: { method },
  })

/** Whether nothing serves the request because nothing knows its method. */
export const isMethodNotFound = (found: Route | JsonRpcError): found is JsonRpcError =>
  found instanceof JsonRpcError && found.code === ErrorCode.methodNotFound
