/** Pages of a manager's conversations, newest first, as the store has them. */
import * as Effect from "effect/Effect"
import { type BadCursor, BadPageLimit } from "../ConversationErrors.ts"
import type { ConversationPage, ConversationSummary, PageOptions } from "../ConversationManager.ts"
import type { Entry } from "./Entry.ts"
import { decode, encode } from "./Cursor.ts"
import { withinStoreTimeout } from "../store/StoreTimeout.ts"
import type { ConversationStore, ConversationSummary as Stored } from "../ConversationStore.ts"
import type { StoreError } from "../StoreErrors.ts"

const maxLimit = 1000
const defaultLimit = 50

const summaryOf = (
  { archived, meta, path, preview, updatedAtMs }: Stored,
  entry: Entry | undefined,
): ConversationSummary => ({
  id: meta.id,
  loaded: entry?.placement._tag === "Live",
  createdAtMs: meta.createdAtMs,
  updatedAtMs,
  cwd: meta.cwd,
  archived,
  ...(preview === undefined ? {} : { preview }),
  ...(meta.provider === undefined ? {} : { provider: meta.provider }),
  ...(meta.model === undefined ? {} : { model: meta.model }),
  ...(path === undefined ? {} : { path }),
})

export const pageOf = Effect.fnUntraced(function* (
  store: ConversationStore["Service"],
  entries: ReadonlyMap<string, Entry>,
  { cursor, limit = defaultLimit, ...filters }: PageOptions = {},
): Effect.fn.Return<ConversationPage, BadCursor | BadPageLimit | StoreError> {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
    return yield* new BadPageLimit({ limit, maxLimit })
  }
  const after = cursor === undefined ? undefined : yield* Effect.fromResult(decode(cursor))
  const { items, next } = yield* withinStoreTimeout(
    "list",
    store.list({ ...filters, limit, ...(after === undefined ? {} : { after }) }),
  )
  return {
    items: items.flatMap((stored) => {
      const entry = entries.get(stored.meta.id)
      return entry?.isHidden === true ? [] : [summaryOf(stored, entry)]
    }),
    ...(next === undefined ? {} : { nextCursor: encode(next) }),
  }
})
