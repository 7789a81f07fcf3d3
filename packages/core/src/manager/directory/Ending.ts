/**
 * Removes, archives and unarchives the conversations of one manager, one operation at a time for each conversation. An
 * archiving or unarchiving that arrives while one runs waits for its end and then has the result of a later one; what
 * arrives while a removal runs finds no conversation.
 */
import { type ConversationId, parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { NoSuchConversation } from "../../ConversationErrors.ts"
import type { Access, RemoveError, UnarchiveError } from "../../ConversationManager.ts"
import type { Revision } from "../../ConversationStore.ts"
import { withinStoreTimeout } from "../../store/StoreTimeout.ts"
import { LeaseHeld, type StoreError } from "../../StoreErrors.ts"
import { type Entry, setHidden, stored, takenOver } from "../Entry.ts"
import type { ConversationQuota } from "./ConversationQuota.ts"
import type { DirectoryParts } from "./DirectoryParts.ts"
import { OperationOrder } from "./OperationOrder.ts"
import { entryOf, findForEnd, isMissing, visibleMetadata } from "./FindEntry.ts"

type Operation = "delete" | "archive" | "unarchive"

const checkRevision = (
  id: ConversationId,
  now: Revision | undefined,
  revision: Revision | undefined,
): Effect.Effect<void, LeaseHeld> =>
  revision === undefined || revision === now
    ? Effect.void
    : Effect.fail(new LeaseHeld({ id, holder: {} }))

/** See the header. One per manager. */
export class Ending {
  private readonly parts: DirectoryParts
  private readonly quota: ConversationQuota
  private readonly order = new OperationOrder()

  constructor(parts: DirectoryParts, quota: ConversationQuota) {
    this.parts = parts
    this.quota = quota
  }

  /**
   * Releases the conversation, then has the store delete or move its log. No caller finds it meanwhile. Fails where its
   * lease turns out to be lost, and before anything ends where it has another revision than `revision`.
   */
  releaseAnd(
    operation: "delete" | "archive",
    name: string,
    access: Access | undefined,
    revision?: Revision,
  ): Effect.Effect<void, RemoveError> {
    const ending = Effect.gen({ self: this }, function* () {
      const { shutdown, store } = this.parts
      yield* shutdown.checkOpen
      const entry = yield* findForEnd(this.parts, name, access)
      const { id } = entry
      if (revision !== undefined) {
        const now = yield* withinStoreTimeout("metadata", store.metadata({ id }))
        yield* checkRevision(id, now.revision, revision)
      }
      yield* this.release(entry, operation, revision)
    })
    return this.inOrder(operation, name, access, ending)
  }

  /** One that is not archived stays as it is, whoever has it: there is nothing to change for which to wait or to ask. */
  unarchive(
    name: string,
    access: Access | undefined,
    revision?: Revision,
  ): Effect.Effect<void, UnarchiveError> {
    const ending = Effect.gen({ self: this }, function* () {
      const { entries, shutdown, store, watchers } = this.parts
      yield* shutdown.checkOpen
      const parsed = parseConversationId(name)
      if ("problem" in parsed) return yield* new NoSuchConversation({ id: name })
      const found = yield* visibleMetadata(store, { id: parsed.id }, access)
      yield* shutdown.checkOpen
      const { archived, meta } = found
      if (!archived) {
        entries.setArchived(meta.id, false)
        return watchers.notify(meta)
      }
      yield* checkRevision(meta.id, found.revision, revision)
      // One that was resumed by its path has the lease although it is archived.
      const entry = entryOf(entries, found)
      entries.setArchived(meta.id, true)
      yield* this.quota.readmit(entry, this.release(entry, "unarchive", revision))
    })
    return this.inOrder("unarchive", name, access, ending)
  }

  /** Fails at once where no such conversation is found, or it is being removed. */
  private inOrder<E>(
    operation: Operation,
    name: string,
    access: Access | undefined,
    ending: Effect.Effect<void, E>,
  ): Effect.Effect<void, E | NoSuchConversation | StoreError> {
    return Effect.suspend((): Effect.Effect<void, E | NoSuchConversation | StoreError> => {
      const parsed = parseConversationId(name)
      const id = "problem" in parsed ? name : parsed.id
      const entry = this.parts.entries.get(id)
      return entry !== undefined && isMissing(entry, access)
        ? Effect.fail(new NoSuchConversation({ id: name }))
        : this.order.next(id, operation, ending)
    })
  }

  /** An interruption in between would leave an entry that no caller can find or remove: the caller excludes that. */
  private release(
    entry: Entry,
    operation: Operation,
    revision: Revision | undefined,
  ): Effect.Effect<void, RemoveError> {
    return Effect.gen({ self: this }, function* () {
      const { entries, inMemory, store, watchers } = this.parts
      const { id } = entry
      setHidden(entry, operation)
      yield* inMemory.release(entry, { quietly: false })
      const lost = takenOver(entry)
      const exit = yield* Effect.exit<void, RemoveError, never>(
        lost === undefined
          ? withinStoreTimeout(operation, store[operation](id, revision))
          : Effect.fail(lost),
      )
      if (Exit.isFailure(exit) || operation !== "delete") {
        entry.placement = stored
        setHidden(entry, undefined)
        if (Exit.isSuccess(exit)) entries.setArchived(id, operation === "archive")
      } else {
        entry.placement = { ...entry.placement, _tag: "Removed", isDeleted: true }
        entries.delete(id)
        yield* this.quota.release(id)
      }
      yield* exit
      // The store has moved its file.
      entry.path = undefined
      watchers.notify(entry)
    })
  }
}
