/** How a Peer serves a request beside its table of methods: what a dialect of several revisions decides for each. */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Codec } from "@colloquy/protocol/Method"
import type * as Effect from "effect/Effect"
import type { Caller } from "./Peer.ts"

export interface Route {
  /** What reads the params and writes the answer. */
  readonly codec: Pick<Codec, "info" | "decodeParams" | "encodeResult">
  readonly handler: (params: unknown, caller: Caller) => Effect.Effect<unknown, JsonRpcError>
}

export const methodNotFound = (method: string): JsonRpcError =>
  new JsonRpcError({
    code: ErrorCode.methodNotFound,
    message: `Method not found: ${method}`,
    data: { method },
  })
