/**
 * The state of one manager: which conversations exist for it, and what creates, finds, removes and ends them.
 *
 * Keeps L3 (a failed creation leaves nothing behind) and L8 at its level (the shutdown ends every conversation, all at the
 * same time and each within its bound). `Creation` creates conversations; `LoadedConversations` decides which are in memory;
 * `Storage` reads and writes their logs. The members that `ConversationManager` documents behave as described there.
 */
import { defined } from "@colloquy/protocol/Defined"
import { type ConversationId, parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { Conversation, OwnedConversation } from "../../Conversation.ts"
import {
  type CannotResume,
  ConversationUnavailable,
  type ManagerClosed,
  NoSuchConversation,
} from "../../ConversationErrors.ts"
import type {
  Access,
  ConversationManager,
  CreateError,
  ForkOptions,
  GetError,
  RemoveError,
} from "../../ConversationManager.ts"
import type { ConversationSettings } from "../../ConversationSettings.ts"
import type { ConversationSummary, LogAddress, Revision } from "../../ConversationStore.ts"
import { type ForkRule, problemOf } from "../../ForkRule.ts"
import { beyondHistory, forkLog } from "../../recovery/Fork.ts"
import { withinStoreTimeout } from "../../store/StoreTimeout.ts"
import { LeaseHeld, type StoreError } from "../../StoreErrors.ts"
import { isVisible } from "../Access.ts"
import { type Entry, setHidden, stored, takenOver } from "../Entry.ts"
import { ManagedConversation } from "../ManagedConversation.ts"
import { orUnavailable } from "../Storage.ts"
import { Creation } from "./Creation.ts"
import { ConversationQuota, type QuotaParts } from "./ConversationQuota.ts"
import type { DirectoryParts } from "./DirectoryParts.ts"
import { Entries } from "./Entries.ts"
import { findEntry, findForEnd, findStoredEntry } from "./FindEntry.ts"
import { pageOf } from "./Pages.ts"
import { Shutdown } from "./Shutdown.ts"
import { Watchers } from "./Watchers.ts"

/** The conversations of one manager. */
export class ConversationDirectory {
  private readonly parts: DirectoryParts
  private readonly creation: Creation
  private readonly quota: ConversationQuota

  constructor({
    places,
    quotaOf,
    ...parts
  }: Omit<DirectoryParts, "entries" | "shutdown" | "watchers"> & QuotaParts) {
    const entries = new Entries()
    const shutdown = new Shutdown(entries, parts.inMemory)
    this.parts = { ...parts, entries, shutdown, watchers: new Watchers() }
    this.quota = new ConversationQuota(entries, defined({ quotaOf, places }))
    this.creation = new Creation(this.parts, this.quota)
  }

  get watchers(): Watchers {
    return this.parts.watchers
  }

  create(
    { history, resumePath, ...settings }: ConversationSettings,
    access: Access | undefined,
  ): Effect.Effect<Conversation, CreateError | CannotResume> {
    return Effect.flatMap(
      this.creation.originOf({ history, resumePath }, settings, access),
      (origin) => this.creation.start(settings, access?.owner ?? undefined, origin),
    )
  }

  createOnSubmit(
    { history, resumePath, ...settings }: ConversationSettings,
    access: Access | undefined,
  ): Effect.Effect<Conversation, CreateError | CannotResume, Scope.Scope> {
    return Effect.flatMap(
      this.creation.originOf({ history, resumePath }, settings, access),
      (origin) => this.creation.startUnrecorded(settings, access?.owner ?? undefined, origin),
    )
  }

  get(id: string, access: Access | undefined): Effect.Effect<Conversation, GetError> {
    return Effect.andThen(this.checkOpen, this.load(id, findEntry(this.parts, id, access)))
  }

  open(path: string, access: Access | undefined): Effect.Effect<Conversation, GetError> {
    return Effect.andThen(
      this.checkOpen,
      this.load(path, findStoredEntry(this.parts, path, { path }, access)),
    )
  }

  metadata(
    address: LogAddress,
    access: Access | undefined,
  ): Effect.Effect<ConversationSummary, NoSuchConversation | StoreError> {
    return Effect.filterOrFail(
      withinStoreTimeout("metadata", this.parts.store.metadata(address)),
      ({ meta }) => isVisible(meta, access),
      () => new NoSuchConversation({ id: "id" in address ? address.id : address.path }),
    )
  }

  list(...[page]: Parameters<ConversationManager["Service"]["list"]>) {
    return pageOf(this.parts.store, this.parts.entries, page)
  }

  fork(id: string, rule: ForkRule, access?: Access, options: ForkOptions = {}) {
    return Effect.gen({ self: this }, function* () {
      yield* this.checkOpen
      const problem = problemOf(rule)
      if (problem !== undefined) return yield* problem
      const entry = yield* orUnavailable(id, findEntry(this.parts, id, access))
      const { settings, source } = yield* this.use(entry, (conversation) =>
        Effect.all({
          source: Effect.map(conversation.durableEvents, (events) => ({
            events,
            timeOf: (seq: number) => conversation.timeOf(seq),
          })),
          settings: Effect.map(conversation.state, ({ settings: now }) => ({ ...now, ...options })),
        }),
      )
      const beyond = beyondHistory(source.events, rule)
      if (beyond !== undefined) return yield* beyond
      return yield* this.creation.start(settings, entry.owner, {
        id: entry.id,
        log: (forked) => forkLog(source, rule, { id: forked, settings }),
      })
    })
  }

  /**
   * Releases the conversation, then has the store delete or move its log. No caller finds it meanwhile. Fails where its
   * lease turns out to be lost, and before anything ends where it has another revision than `revision`.
   */
  releaseAnd(
    operation: "delete" | "archive" | "unarchive",
    name: string,
    access: Access | undefined,
    revision?: Revision,
  ): Effect.Effect<void, RemoveError> {
    return Effect.gen({ self: this }, function* () {
      yield* this.checkOpen
      const entry = yield* findForEnd(this.parts, name, access)
      yield* this.checkRevision(entry.id, revision)
      // Another caller may have hidden it since it was found, and still holds its lease.
      if (entry.isHidden) return yield* new NoSuchConversation({ id: name })
      setHidden(entry, operation)
      yield* this.parts.inMemory.release(entry, { quietly: false })
      const { id } = entry
      const lost = takenOver(entry)
      const exit = yield* Effect.exit<void, RemoveError, never>(
        lost === undefined
          ? withinStoreTimeout(operation, this.parts.store[operation](id, revision))
          : Effect.fail(lost),
      )
      if (Exit.isFailure(exit) || operation !== "delete") {
        entry.placement = stored
        setHidden(entry, undefined)
        if (Exit.isSuccess(exit)) this.parts.entries.setArchived(id, operation === "archive")
      } else {
        entry.placement = { ...entry.placement, _tag: "Removed", isDeleted: true }
        this.parts.entries.delete(id)
        yield* this.quota.release(id)
      }
      yield* exit
      // The store has moved its file.
      entry.path = undefined
      this.parts.watchers.notify(entry)
      // An interruption in between would leave an entry that no caller can find or remove.
    }).pipe(Effect.uninterruptible)
  }

  /** One that is not archived stays as it is, whoever has it: there is nothing to change for which to wait or to ask. */
  unarchive(
    name: string,
    access: Access | undefined,
    revision?: Revision,
  ): Effect.Effect<void, RemoveError> {
    return Effect.gen({ self: this }, function* () {
      yield* this.checkOpen
      const parsed = parseConversationId(name)
      if ("problem" in parsed) return yield* new NoSuchConversation({ id: name })
      const { archived, meta } = yield* this.metadata({ id: parsed.id }, access)
      // One that was resumed by its path has the lease although it is archived.
      const known = archived ? this.parts.entries.get(meta.id) : undefined
      if (known !== undefined) {
        return yield* this.releaseAnd("unarchive", name, access, revision)
      }
      if (archived) {
        const { store } = this.parts
        yield* withinStoreTimeout("unarchive", store.unarchive(meta.id, revision))
      }
      this.parts.entries.setArchived(meta.id, false)
      this.parts.watchers.notify(meta)
    })
  }

  get shutdown(): Effect.Effect<void> {
    return this.parts.shutdown.run
  }

  get isClosed(): Effect.Effect<boolean> {
    return Effect.sync(() => this.parts.shutdown.hasStarted)
  }

  private get checkOpen(): Effect.Effect<void, ManagerClosed> {
    return this.parts.shutdown.checkOpen
  }

  private checkRevision(
    id: ConversationId,
    revision: Revision | undefined,
  ): Effect.Effect<void, RemoveError> {
    return revision === undefined
      ? Effect.void
      : Effect.filterOrFail(
          withinStoreTimeout("metadata", this.parts.store.metadata({ id })),
          (now) => now.revision === revision,
          () => new LeaseHeld({ id, holder: {} }),
        ).pipe(Effect.asVoid)
  }

  private load(
    name: string,
    finding: ReturnType<typeof findEntry>,
  ): Effect.Effect<Conversation, GetError> {
    return Effect.flatMap(orUnavailable(name, finding), (entry) =>
      this.use(entry, () => Effect.succeed(new ManagedConversation(entry, this.parts.inMemory))),
    )
  }

  /** Fails with `NoSuchConversation` where the store has it no more: another process removed it, or a backup was restored. */
  private use<A, E>(
    entry: Entry,
    work: (conversation: OwnedConversation) => Effect.Effect<A, E>,
  ): Effect.Effect<A, E | ConversationUnavailable | NoSuchConversation> {
    return Effect.catchIf(
      this.parts.inMemory.use(entry, work),
      // It is there still where it is being removed.
      (error) =>
        error instanceof ConversationUnavailable && error.because instanceof NoSuchConversation,
      (error) =>
        withinStoreTimeout("metadata", this.parts.store.metadata({ id: entry.id })).pipe(
          Effect.catchTag("StoreError", () => Effect.void),
          Effect.andThen(Effect.fail(error)),
        ),
    )
  }
}
