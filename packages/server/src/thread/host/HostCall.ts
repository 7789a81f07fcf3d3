/** The call object of a handler that belongs to no thread, and what several of them check. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type { AppServices } from "../../app/AppCall.ts"
import type { AppConnection } from "../../app/AppConnection.ts"
import type { RequestCaller } from "../../jsonrpc/Caller.ts"
import type { HostConnection } from "./HostConnection.ts"
import { badCursor } from "../ThreadPages.ts"
import { relativePath } from "./HostErrors.ts"

/** One request, with the connection that it arrived on. */
export interface HostCall extends Omit<RequestCaller, "separate"> {
  readonly connection: AppConnection
  /** What this connection has running outside of threads. */
  readonly host: HostConnection
  /** Notifies every connection of this dialect, after the responses that hold `noticesKey`. Waits for none. */
  readonly notifyAll: <M extends Rpc.Any>(method: M, params: Params<M>) => void
}

/** Handler of one method. It gets decoded params and fails with the error that is sent. */
export type HostHandler<M extends Rpc.Any> = (
  params: Params<M>,
  call: HostCall,
) => Effect.Effect<ResultOf<M>, JsonRpcError, AppServices>

/** Fails for a relative path, and for one that no system call takes. */
export const absolutePath = (field: string, path: string): Effect.Effect<string, JsonRpcError> =>
  path.startsWith("/") && !path.includes("\0")
    ? Effect.succeed(path)
    : Effect.fail(relativePath(field))

/** Entries of one page, unless the client says otherwise. */
const defaultPageSize = 50

/** One page of a list; a cursor is the offset of the page. A limit of 0 counts as 1. */
export const pageOf = <A>(
  all: ReadonlyArray<A>,
  { cursor, limit }: { readonly cursor?: string | null; readonly limit?: number | null },
): Effect.Effect<
  { readonly data: ReadonlyArray<A>; readonly nextCursor: string | null },
  JsonRpcError
> => {
  const from = cursor ?? "0"
  if (!/^\d{1,9}$/.test(from) || Number(from) > all.length) return Effect.fail(badCursor(from))
  const start = Number(from)
  const data = all.slice(start, start + Math.max(1, limit ?? defaultPageSize))
  const next = start + data.length
  return Effect.succeed({ data, nextCursor: next < all.length ? String(next) : null })
}
