/** Pages of lists that are read as a whole. A cursor names the item that a page ended with. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import { invalid } from "../app/AppErrors.ts"

/** Which page. */
export interface PageParams {
  readonly cursor?: string | null
  /** 0 acts as 1. Default: everything. */
  readonly limit?: number | null
  readonly sortDirection: "asc" | "desc"
}

/** One page of a list. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly nextCursor: string | null
  /** Continues in the other direction. */
  readonly backwardsCursor: string | null
}

/**
 * One page of a list whose items are in ascending order.
 *
 * @param keyOf names an item in the list
 */
export const pageOf = <A>(
  items: ReadonlyArray<A>,
  { cursor, limit, sortDirection }: PageParams,
  keyOf: (item: A) => string,
): Effect.Effect<Page<A>, JsonRpcError> => {
  const ordered = sortDirection === "asc" ? items : items.toReversed()
  const cursorOf = (item: A | undefined) =>
    item === undefined ? null : JSON.stringify(keyOf(item))
  const after =
    cursor == null ? -1 : ordered.findIndex((item) => JSON.stringify(keyOf(item)) === cursor)
  if (cursor != null && after === -1) return Effect.fail(invalid(`invalid cursor: ${cursor}`))
  const rest = ordered.slice(after + 1)
  const data = limit == null ? rest : rest.slice(0, Math.max(1, limit))
  return Effect.succeed({
    data,
    nextCursor: data.length < rest.length ? cursorOf(data.at(-1)) : null,
    backwardsCursor: cursorOf(data[0]),
  })
}
