/** Pages of the stored conversations, newest first. Loads no conversation. */
import { defined } from "@colloquy/protocol/Defined"
import * as Effect from "effect/Effect"
import { type BadCursor, BadPageLimit } from "../../ConversationErrors.ts"
import type {
  ConversationPage,
  ConversationSummary,
  PageOptions,
} from "../../ConversationManager.ts"
import type { ConversationStore, ConversationSummary as Stored } from "../../ConversationStore.ts"
import type { StoreError } from "../../StoreErrors.ts"
import { withinStoreTimeout } from "../../store/StoreTimeout.ts"
import { decode, encode } from "./Cursor.ts"
import type { Entry } from "../Entry.ts"

const maxLimit = 1000
const defaultLimit = 50

const summaryOf = (
  { archived, meta, name, path, preview, updatedAtMs }: Stored,
  entry: Entry | undefined,
): ConversationSummary => ({
  id: meta.id,
  loaded: entry?.placement._tag === "Loaded",
  createdAtMs: meta.createdAtMs,
  updatedAtMs,
  cwd: meta.cwd,
  archived,
  ...defined({ preview, name, provider: meta.provider, model: meta.model, path }),
})

/** One page. Conversations that are being created, removed or archived are left out. */
export const pageOf = Effect.fn("Pages.pageOf")(function* (
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
    store.list({ ...filters, limit, ...defined({ after }) }),
  )
  return {
    items: items.flatMap((stored) => {
      const entry = entries.get(stored.meta.id)
      return entry?.isHidden === true ? [] : [summaryOf(stored, entry)]
    }),
    ...defined({ nextCursor: next === undefined ? undefined : encode(next) }),
  }
})
