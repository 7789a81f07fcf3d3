/**
 * Copies conversations from one store to another with every record: from rollout files to a database and back. The copy has
 * the id, the metadata, the name and the archive mark of the original. Works with every two stores.
 */
import type { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type {
  ConversationStore,
  ConversationSummary,
  ListPosition,
  LogWriter,
} from "@colloquy/core/ConversationStore"
import { type AppendError, type LeaseHeld, StoreError } from "@colloquy/core/StoreErrors"
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import type * as Scope from "effect/Scope"
import { LogCursor } from "./internal/LogCursor.ts"

type Store = ConversationStore["Service"]

/** The two stores. */
export interface Transfer {
  readonly from: Store
  readonly to: Store
}

/** Why a conversation was not copied. */
export type TransferError = StoreError | NoSuchConversation | LeaseHeld | AppendError

/** Records that are appended at once. */
const batchSize = 500

/** Conversations of one page of a list. */
const listSize = 100

const appendRest = Effect.fnUntraced(function* (
  source: LogCursor,
  writer: LogWriter,
): Effect.fn.Return<void, TransferError> {
  for (;;) {
    const batch = yield* source.take(batchSize)
    if (batch.length === 0) return
    yield* writer.append(batch, "synced")
  }
})

/** Fails where the log lacks an event, before anything of it is copied: neither store could load the conversation. */
const checkEvents = Effect.fnUntraced(function* (
  from: Store,
  id: ConversationId,
): Effect.fn.Return<void, StoreError | NoSuchConversation> {
  const source = new LogCursor(from, id)
  let next = 0
  for (;;) {
    const batch = yield* source.take(batchSize)
    if (batch.length === 0) return
    for (const record of batch) {
      if (record._tag !== "Event") continue
      const { msg, seq } = record.event
      const fault =
        seq !== next
          ? `expected event ${next}, found event ${seq}`
          : next === 0 && msg.type !== "session_configured"
            ? "its first event is not session_configured"
            : undefined
      if (fault !== undefined) {
        const message = `the log of conversation ${id} is damaged: ${fault}`
        return yield* new StoreError({ operation: "read", reason: "Damaged", message })
      }
      next++
    }
  }
})

/** Continues a copy that an earlier call began and did not end. Fails with `exists` when the conversation is another one. */
const continueCopy = Effect.fnUntraced(function* (
  { from, to }: Transfer,
  id: ConversationId,
  exists: StoreError,
): Effect.fn.Return<void, TransferError, Scope.Scope> {
  const source = new LogCursor(from, id)
  const { writer } = yield* to.open({ id })
  const target = new LogCursor(to, id)
  for (;;) {
    const known = yield* target.take(batchSize)
    if (known.length === 0) return yield* appendRest(source, writer)
    const same = yield* source.take(known.length)
    if (!Equal.equals(known, same)) return yield* exists
  }
})

const copyRecords = Effect.fnUntraced(function* (
  stores: Transfer,
  { meta }: ConversationSummary,
): Effect.fn.Return<void, TransferError, Scope.Scope> {
  const { from, to } = stores
  const source = new LogCursor(from, meta.id)
  const created = yield* to.create(meta, yield* source.take(batchSize)).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "Exists",
      (exists) => Effect.as(continueCopy(stores, meta.id, exists), undefined),
    ),
  )
  if (created !== undefined) yield* appendRest(source, created)
})

/**
 * Copies one conversation, and resolves with it when the whole copy is stored. The lease of the original is held for that
 * time, so that nothing is appended to it. A copy that was interrupted is continued by the next call. Fails with a
 * `StoreError` of reason `Exists` when the other store has a different conversation of this id, and of reason `Damaged` when
 * the original lacks an event.
 */
export const copyConversation = Effect.fnUntraced(function* (
  stores: Transfer,
  id: ConversationId,
): Effect.fn.Return<ConversationSummary, TransferError, Scope.Scope> {
  const { from, to } = stores
  const { summary } = yield* from.open({ id })
  yield* checkEvents(from, id)
  yield* Effect.scoped(copyRecords(stores, summary))
  if (summary.name !== undefined) yield* to.rename(id, summary.name)
  if (summary.archived) yield* to.archive(id)
  return summary
}, Effect.scoped)

/** What became of one conversation. */
export interface Copied {
  readonly id: ConversationId
  /** Why it was not copied. Absent when it was. */
  readonly error?: TransferError
}

/** Ids of all conversations, archived ones too, the oldest first. */
const oldestFirst = Effect.fnUntraced(function* (
  from: Store,
): Effect.fn.Return<ReadonlyArray<ConversationId>, StoreError> {
  const all: Array<ListPosition> = []
  for (const archived of [false, true]) {
    let after: ListPosition | undefined
    do {
      const query = { archived, limit: listSize, ...defined({ after }) }
      const page: {
        readonly items: ReadonlyArray<ConversationSummary>
        readonly next?: ListPosition
      } = yield* from.list(query)
      all.push(...page.items.map(({ meta: { createdAtMs, id } }) => ({ createdAtMs, id })))
      after = page.next
    } while (after !== undefined)
  }
  return all.toSorted((one, other) => one.createdAtMs - other.createdAtMs).map(({ id }) => id)
})

/** Called after each conversation. */
export type OnCopied = (copied: Copied) => Effect.Effect<void>

const ignored: OnCopied = () => Effect.void

/** Copies these conversations, in this order. One that cannot be copied does not stop the others. */
export const copyEach = (
  stores: Transfer,
  ids: ReadonlyArray<ConversationId>,
  onCopied: OnCopied = ignored,
): Effect.Effect<ReadonlyArray<Copied>> =>
  Effect.forEach(ids, (id) =>
    copyConversation(stores, id).pipe(
      Effect.match({
        onFailure: (error): Copied => ({ id, error }),
        onSuccess: (): Copied => ({ id }),
      }),
      Effect.tap(onCopied),
    ),
  )

/**
 * Copies all conversations, archived ones too. One that cannot be copied does not stop the others. The oldest come first,
 * so that a conversation is there before those that were forked from it.
 */
export const copyAll = (
  stores: Transfer,
  onCopied: OnCopied = ignored,
): Effect.Effect<ReadonlyArray<Copied>, StoreError> =>
  Effect.flatMap(oldestFirst(stores.from), (ids) => copyEach(stores, ids, onCopied))
