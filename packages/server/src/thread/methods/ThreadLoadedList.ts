/** `thread/loaded/list`: the ids of the threads that were started or resumed in this process. */
import type { ThreadLoadedList } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import type { ThreadHandler } from "../ThreadCall.ts"
import { pageOf } from "../ThreadPages.ts"

/** Handler of the method. */
export const threadLoadedList: ThreadHandler<typeof ThreadLoadedList> = (params, { connection }) =>
  pageOf(connection.registry.loadedIds(), { ...params, sortDirection: "asc" }, (id) => id).pipe(
    Effect.map(({ data, nextCursor }) => ({ data, nextCursor })),
  )
