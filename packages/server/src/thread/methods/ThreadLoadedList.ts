/** `thread/loaded/list`: the ids of the threads that were started or resumed in this process. The cursor is the last id of a page. */
import type { ThreadLoadedList } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import type { ThreadHandler } from "../ThreadCall.ts"
import { badCursor } from "../ThreadPages.ts"

/** Handler of the method. */
export const threadLoadedList: ThreadHandler<typeof ThreadLoadedList> = (
  { cursor, limit },
  { connection },
) => {
  const ids = connection.registry.loadedIds()
  if (cursor != null && !ids.includes(cursor)) return Effect.fail(badCursor(cursor))
  const rest = cursor == null ? ids : ids.slice(ids.indexOf(cursor) + 1)
  const data = limit == null ? rest : rest.slice(0, Math.max(1, limit))
  return Effect.succeed({
    data,
    nextCursor: data.length < rest.length ? (data.at(-1) ?? null) : null,
  })
}
