/** Retention: removes conversations that were not continued for a long time. Works with every store. */
import {
  ConversationStore,
  type ListPosition,
  type ListQuery,
} from "@colloquy/core/ConversationStore"
import type { StoreError } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"

/** Which conversations are removed. */
export interface RetentionRule {
  /** Those whose last record is older, in milliseconds since the epoch. */
  readonly updatedBeforeMs: number
  /** True: only archived ones. Default: archived or not. */
  readonly archivedOnly?: boolean
}

/** Conversations of one page of a list. */
const pageSize = 100

/** The ids of the old conversations of a list. */
const oldOnes = Effect.fnUntraced(function* (
  query: Pick<ListQuery, "archived">,
  updatedBeforeMs: number,
): Effect.fn.Return<ReadonlyArray<ConversationId>, StoreError, ConversationStore> {
  const store = yield* ConversationStore
  const ids: Array<ConversationId> = []
  let after: ListPosition | undefined
  do {
    const page = yield* store.list({
      ...query,
      limit: pageSize,
      ...(after === undefined ? {} : { after }),
    })
    for (const { meta, updatedAtMs } of page.items) {
      if (updatedAtMs < updatedBeforeMs) ids.push(meta.id)
    }
    after = page.next
  } while (after !== undefined)
  return ids
})

/**
 * Removes the conversations, and resolves with the number of those removed. One that is in use is left, as is one that
 * somebody removes at the same time.
 */
export const removeOld = Effect.fnUntraced(function* ({
  archivedOnly = false,
  updatedBeforeMs,
}: RetentionRule): Effect.fn.Return<number, StoreError, ConversationStore> {
  const store = yield* ConversationStore
  let removed = 0
  for (const archived of archivedOnly ? [true] : [false, true]) {
    for (const id of yield* oldOnes({ archived }, updatedBeforeMs)) {
      removed += yield* store.delete(id).pipe(
        Effect.as(1),
        Effect.catchTags({
          LeaseHeld: () => Effect.succeed(0),
          NoSuchConversation: () => Effect.succeed(0),
        }),
      )
    }
  }
  return removed
})
