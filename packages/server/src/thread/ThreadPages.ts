/**
 * Pages of lists that are read as a whole. A cursor names an item: the next page begins behind it, the page in the other
 * direction with it.
 */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { parseJson } from "@colloquy/protocol/Json"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { invalid } from "../app/AppErrors.ts"
import type { ThreadHistory } from "./ThreadHistory.ts"

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

/** A cursor of this program is shorter; of any other text its beginning says enough. */
const maxShownCursor = 200

/** No page has this cursor. */
export const badCursor = (cursor: string): JsonRpcError => {
  const shown =
    cursor.length > maxShownCursor ? `${cursor.slice(0, maxShownCursor).toWellFormed()}…` : cursor
  return invalid(`invalid cursor: ${shown}`)
}

/** The cursor of a page that begins with an item. */
export const cursorAt = (key: string): string => JSON.stringify({ at: key })

/** Where the lists of a thread's turns and items begin when they are read backwards. */
export const newestOf = ({ turns }: Pick<ThreadHistory, "turns">) => {
  const turn = turns.at(-1)
  const item = turns.flatMap(({ items }) => items).at(-1)
  return {
    turnsBackwardsCursor: turn === undefined ? null : cursorAt(turn.id),
    itemsBackwardsCursor: item === undefined ? null : cursorAt(item.id),
  }
}

const cursorBehind = (key: string): string => JSON.stringify({ behind: key })

interface Cursor {
  readonly at?: unknown
  readonly behind?: unknown
}

const cursorOf = (cursor: string): Cursor | undefined => {
  const parsed = Result.getOrUndefined(parseJson(cursor))
  return typeof parsed === "object" && parsed !== null ? parsed : undefined
}

/** True for a cursor of `pageOf` or `cursorAt`, also where no list has its item. */
export const isPageCursor = (cursor: string): boolean => cursorOf(cursor) !== undefined

/** The place of the first item of the page in the list of keys; -1 if the cursor names none of them. */
const placeOf = (keys: ReadonlyArray<string>, cursor: string): number => {
  const { at, behind } = cursorOf(cursor) ?? {}
  if (typeof at === "string") return keys.indexOf(at)
  const found = typeof behind === "string" ? keys.indexOf(behind) : -1
  return found === -1 ? -1 : found + 1
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
  const from = cursor == null ? 0 : placeOf(ordered.map(keyOf), cursor)
  if (from === -1) return Effect.fail(badCursor(cursor ?? ""))
  const rest = ordered.slice(from)
  const data = limit == null ? rest : rest.slice(0, Math.max(1, limit))
  const [first, last] = [data[0], data.at(-1)]
  return Effect.succeed({
    data,
    nextCursor: last !== undefined && data.length < rest.length ? cursorBehind(keyOf(last)) : null,
    backwardsCursor: first === undefined ? null : cursorAt(keyOf(first)),
  })
}
