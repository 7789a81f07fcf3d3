/** Pages of a manager's conversations, newest first, as the store has them. */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { BadPageLimit } from "../ConversationErrors.ts"
import type { Entry } from "./Entry.ts"
import { type BadCursor, decode, encode } from "./Cursor.ts"
import { withinTimeout } from "../store/StoreTimeout.ts"
import type {
  ConversationStore,
  ConversationSummary as Stored,
  ListQuery,
} from "../ConversationStore.ts"
import type { StoreError } from "../StoreErrors.ts"

/** What a list tells of a conversation; none of them is loaded for it. */
export interface ConversationSummary {
  readonly id: ConversationId
  /** False when it is in the store and comes back at its next use. */
  readonly loaded: boolean
  /** What a person said first, white space folded; absent while nobody has said anything. */
  readonly preview?: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly cwd: string
  readonly provider?: string
  readonly model?: string
  readonly archived: boolean
  /** Of its file, where the store keeps files. */
  readonly path?: string
}

export interface ConversationPage {
  readonly items: ReadonlyArray<ConversationSummary>
  /** Where the next page begins; absent on the last. */
  readonly nextCursor?: string
}

export interface PageOptions extends Pick<
  ListQuery,
  "cwd" | "provider" | "archived" | "spoken" | "text" | "owner"
> {
  /** The `nextCursor` of an earlier page; default: the newest. */
  readonly cursor?: string
  /** 1 to 1,000; default 50. */
  readonly limit?: number
}

const maxLimit = 1000
const defaultLimit = 50

const summaryOf = (
  { archived, meta, path, preview, updatedAtMs }: Stored,
  entry: Entry | undefined,
): ConversationSummary => ({
  id: meta.id,
  loaded: entry?.slot._tag === "Live",
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
  const { items, next } = yield* withinTimeout(
    "list",
    store.list({ ...filters, limit, ...(after === undefined ? {} : { after }) }),
  )
  return {
    items: items.flatMap((stored) => {
      const entry = entries.get(stored.meta.id)
      return entry?.leaving === true ? [] : [summaryOf(stored, entry)]
    }),
    ...(next === undefined ? {} : { nextCursor: encode(next) }),
  }
})
