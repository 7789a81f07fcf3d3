/**
 * The state of one manager: which conversations exist for it, and what creates, finds, removes and ends them.
 *
 * Keeps L3 (a failed creation leaves nothing behind) and L8 at its level (the shutdown ends every conversation, all at the
 * same time and each within its bound). `LoadedConversations` decides which conversations are in memory; `Storage` reads
 * and writes their logs. The members that `ConversationManager` documents behave as described there.
 */
import { parseConversationId } from "@colloquy/protocol/Ids"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { Conversation } from "../Conversation.ts"
import {
  type CannotResume,
  ManagerClosed,
  NoSuchConversation,
  TooManyConversations,
} from "../ConversationErrors.ts"
import type {
  Access,
  ConversationManager,
  CreateError,
  ForkOptions,
  GetError,
  RemoveError,
} from "../ConversationManager.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { ConversationStore, ConversationSummary, LogAddress } from "../ConversationStore.ts"
import { type ForkRule, problemOf } from "../ForkRule.ts"
import type { IdGenerator } from "../IdGenerator.ts"
import type { QuotaOf } from "../Quota.ts"
import { beyondHistory, forkLog } from "../recovery/Fork.ts"
import { withinStoreTimeout } from "../store/StoreTimeout.ts"
import type { StoreError } from "../StoreErrors.ts"
import { isVisible } from "./Access.ts"
import { Entries } from "./Entries.ts"
import { ended, type Entry, makeEntry, stored } from "./Entry.ts"
import { type Beginning, importedOrigin, initialLogOf, type Origin } from "./InitialLog.ts"
import type { LoadedConversations } from "./LoadedConversations.ts"
import { ManagedConversation } from "./ManagedConversation.ts"
import { pageOf } from "./Pages.ts"
import { orUnavailable, type Storage } from "./Storage.ts"
import { Watchers } from "./Watchers.ts"

/** Longest wait for the end of all conversations: ten seconds for a store, one for a turn, its kill grace, some room. */
const shutdownTimeout = Duration.seconds(12)

const wholeHistory: ForkRule = { _tag: "DropLastUserMessages", n: 0 }

/** The conversations of one manager. */
export class ConversationDirectory {
  private readonly maxConversations: number
  private readonly ids: IdGenerator["Service"]
  private readonly store: ConversationStore["Service"]
  private readonly storage: Storage
  private readonly inMemory: LoadedConversations
  /** Every conversation that this manager created or opened, by id. */
  private readonly entries: Entries
  /** Conversations that are being created and have no id yet. */
  private creating = 0
  /** Present from the start of the shutdown on; completed at its end. */
  private closed: Deferred.Deferred<void> | undefined
  readonly watchers = new Watchers()

  constructor(parts: {
    readonly maxConversations: number
    readonly ids: IdGenerator["Service"]
    readonly store: ConversationStore["Service"]
    readonly storage: Storage
    readonly inMemory: LoadedConversations
    readonly quotaOf?: QuotaOf
  }) {
    this.maxConversations = parts.maxConversations
    this.entries = new Entries(parts.quotaOf)
    this.ids = parts.ids
    this.store = parts.store
    this.storage = parts.storage
    this.inMemory = parts.inMemory
  }

  create(
    { history, resumePath, ...settings }: ConversationSettings,
    access: Access | undefined,
  ): Effect.Effect<Conversation, CreateError | CannotResume> {
    return Effect.flatMap(this.originOf({ history, resumePath }, settings, access), (origin) =>
      this.start(settings, access?.owner ?? undefined, origin),
    )
  }

  createOnSubmit(
    { history, resumePath, ...settings }: ConversationSettings,
    access: Access | undefined,
  ): Effect.Effect<Conversation, CreateError | CannotResume, Scope.Scope> {
    return Effect.flatMap(this.originOf({ history, resumePath }, settings, access), (origin) =>
      this.startUnrecorded(settings, access?.owner ?? undefined, origin),
    )
  }

  get(id: string, access: Access | undefined): Effect.Effect<Conversation, GetError> {
    return Effect.andThen(this.checkOpen, this.load(id, this.find(id, access)))
  }

  open(path: string, access: Access | undefined): Effect.Effect<Conversation, GetError> {
    return Effect.andThen(this.checkOpen, this.load(path, this.findStored(path, { path }, access)))
  }

  metadata(
    address: LogAddress,
    access: Access | undefined,
  ): Effect.Effect<ConversationSummary, NoSuchConversation | StoreError> {
    return Effect.filterOrFail(
      withinStoreTimeout("metadata", this.store.metadata(address)),
      ({ meta }) => isVisible(meta, access),
      () => new NoSuchConversation({ id: "id" in address ? address.id : address.path }),
    )
  }

  list(...[page]: Parameters<ConversationManager["Service"]["list"]>) {
    return pageOf(this.store, this.entries, page)
  }

  fork(id: string, rule: ForkRule, access?: Access, options: ForkOptions = {}) {
    return Effect.gen({ self: this }, function* () {
      yield* this.checkOpen
      const problem = problemOf(rule)
      if (problem !== undefined) return yield* problem
      const entry = yield* orUnavailable(id, this.find(id, access))
      const { events, settings } = yield* this.inMemory.use(entry, (conversation) =>
        Effect.all({
          events: conversation.durableEvents,
          settings: Effect.map(conversation.state, ({ settings: now }) => ({ ...now, ...options })),
        }),
      )
      const beyond = beyondHistory(events, rule)
      if (beyond !== undefined) return yield* beyond
      return yield* this.start(settings, entry.owner, {
        id: entry.id,
        log: (forked) => forkLog(events, rule, { id: forked, settings }),
      })
    })
  }

  /** Releases the conversation, then has the store delete or move its log. No caller finds it meanwhile. */
  releaseAnd(
    operation: "delete" | "archive" | "unarchive",
    name: string,
    access: Access | undefined,
  ): Effect.Effect<void, RemoveError> {
    return Effect.gen({ self: this }, function* () {
      yield* this.checkOpen
      const entry = yield* this.find(name, access)
      // Another caller may have hidden it since it was found, and still holds its lease.
      if (entry.isHidden) return yield* new NoSuchConversation({ id: name })
      entry.isHidden = true
      yield* this.inMemory.release(entry, { quietly: false })
      const { id } = entry
      const exit = yield* Effect.exit(withinStoreTimeout(operation, this.store[operation](id)))
      if (Exit.isFailure(exit) || operation !== "delete") {
        entry.placement = stored
        entry.isHidden = false
        if (Exit.isSuccess(exit)) this.entries.setArchived(id, operation === "archive")
      } else {
        entry.placement = { ...entry.placement, _tag: "Removed", isDeleted: true }
        this.entries.delete(id)
      }
      yield* exit
      // The store has moved its file.
      entry.path = undefined
      this.watchers.notify(entry)
      // An interruption in between would leave an entry that no caller can find or remove.
    }).pipe(Effect.uninterruptible)
  }

  /** One that is not archived stays as it is, whoever has it: there is nothing to change for which to wait or to ask. */
  unarchive(name: string, access: Access | undefined): Effect.Effect<void, RemoveError> {
    return Effect.gen({ self: this }, function* () {
      yield* this.checkOpen
      const parsed = parseConversationId(name)
      if ("problem" in parsed) return yield* new NoSuchConversation({ id: name })
      const { archived, meta } = yield* this.metadata({ id: parsed.id }, access)
      // One that was resumed by its path has the lease although it is archived.
      const known = archived ? this.entries.get(meta.id) : undefined
      if (known !== undefined) return yield* this.releaseAnd("unarchive", name, access)
      if (archived) yield* withinStoreTimeout("unarchive", this.store.unarchive(meta.id))
      this.entries.setArchived(meta.id, false)
      this.watchers.notify(meta)
    })
  }

  get shutdown(): Effect.Effect<void> {
    return Effect.flatMap(Effect.uninterruptible(this.startShutdown()), (done) =>
      Effect.interruptible(Deferred.await(done)).pipe(
        Effect.timeoutOrElse({
          duration: shutdownTimeout,
          orElse: () =>
            Effect.logWarning(
              `conversation abandoned: a tool did not stop within ${Duration.format(shutdownTimeout)}`,
            ),
        }),
      ),
    )
  }

  get isClosed(): Effect.Effect<boolean> {
    return Effect.sync(() => this.closed !== undefined)
  }

  private get checkOpen(): Effect.Effect<void, ManagerClosed> {
    return Effect.suspend(() =>
      this.closed === undefined ? Effect.void : Effect.fail(new ManagerClosed()),
    )
  }

  private load(
    name: string,
    finding: Effect.Effect<Entry, NoSuchConversation | ManagerClosed | StoreError>,
  ): Effect.Effect<Conversation, GetError> {
    return Effect.flatMap(orUnavailable(name, finding), (entry) =>
      this.inMemory.use(entry, () => Effect.succeed(this.managed(entry))),
    )
  }

  private managed(entry: Entry): Conversation {
    return new ManagedConversation(entry, this.inMemory)
  }

  private find(
    name: string,
    access: Access | undefined,
  ): Effect.Effect<Entry, NoSuchConversation | ManagerClosed | StoreError> {
    return Effect.suspend(() => {
      const entry = this.entries.get(name)
      if (entry !== undefined && !entry.isHidden && isVisible(entry, access)) {
        return Effect.succeed(entry)
      }
      const parsed = parseConversationId(name)
      return entry !== undefined || "problem" in parsed
        ? Effect.fail(new NoSuchConversation({ id: name }))
        : this.findStored(name, { id: parsed.id }, access)
    })
  }

  /** Makes the entry of a conversation that is in the store and that this manager does not know yet. */
  private findStored(
    name: string,
    address: LogAddress,
    access: Access | undefined,
  ): Effect.Effect<Entry, NoSuchConversation | ManagerClosed | StoreError> {
    return Effect.gen({ self: this }, function* () {
      const { meta } = yield* withinStoreTimeout("metadata", this.store.metadata(address))
      yield* this.checkOpen
      const { id } = meta
      const entry = this.entries.get(id) ?? makeEntry(id, stored, meta.owner)
      if (entry.isHidden || !isVisible(entry, access)) {
        return yield* new NoSuchConversation({ id: name })
      }
      this.entries.set(id, entry)
      if ("path" in address) entry.path = address.path
      return entry
    })
  }

  /** Makes the hidden entry of a new conversation. It counts from now on; no caller finds it before it is created. */
  private makeHiddenEntry(owner: string | undefined): Effect.Effect<Entry, TooManyConversations> {
    return Effect.suspend((): Effect.Effect<Entry, TooManyConversations> => {
      const { entries, maxConversations } = this
      if (entries.size + this.creating >= maxConversations) {
        return Effect.fail(new TooManyConversations({ limit: "total", maxConversations }))
      }
      this.creating++
      return this.ids.conversationId.pipe(
        Effect.flatMap((id) => {
          const refused = entries.beyondQuota(owner)
          if (refused !== undefined) return Effect.fail(refused)
          const entry = makeEntry(id, { _tag: "Removed" }, owner)
          entry.isHidden = true
          entries.set(id, entry)
          return Effect.succeed(entry)
        }),
        Effect.ensuring(Effect.sync(() => this.creating--)),
      )
    })
  }

  /** What a new conversation begins with, if its settings name a history. */
  private originOf(
    { history, resumePath }: Beginning,
    settings: ConversationSettings,
    access: Access | undefined,
  ): Effect.Effect<Origin | undefined, ManagerClosed | CannotResume> {
    if (resumePath === undefined) return Effect.succeed(importedOrigin(history, settings))
    const stored = Effect.andThen(this.checkOpen, this.storage.history(resumePath, access))
    return Effect.map(stored, ({ events, id }) => ({
      id,
      log: (created) => forkLog(events, wholeHistory, { id: created, settings }),
    }))
  }

  /** Creates a conversation, with the log of its origin or with the first events of a new one. */
  private start(
    settings: ConversationSettings,
    owner: string | undefined,
    origin?: Origin,
  ): Effect.Effect<Conversation, CreateError> {
    return Effect.gen({ self: this }, function* () {
      yield* this.checkOpen
      const entry = yield* this.makeHiddenEntry(owner)
      return yield* this.startEntry(entry, settings, origin).pipe(
        Effect.onError(() => Effect.sync(() => this.entries.delete(entry.id))),
      )
    }).pipe(Effect.uninterruptible)
  }

  private startEntry(
    entry: Entry,
    settings: ConversationSettings,
    origin: Origin | undefined,
  ): Effect.Effect<Conversation, CreateError> {
    return Effect.gen({ self: this }, function* () {
      const initialLog = initialLogOf(entry.id, settings, origin)
      yield* this.inMemory.start(entry, (lease) =>
        this.storage.create(entry, settings, initialLog, lease),
      )
      if (this.closed !== undefined) {
        yield* this.inMemory.release(entry, { quietly: false })
        yield* this.storage.deleteUnknown(entry)
        return yield* new ManagerClosed()
      }
      this.reveal(entry)
      return this.managed(entry)
    })
  }

  /** Creates a conversation whose log is created by its first record. Forgets it if the scope closes before. */
  private startUnrecorded(
    settings: ConversationSettings,
    owner: string | undefined,
    origin: Origin | undefined,
  ): Effect.Effect<Conversation, CreateError, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      yield* this.checkOpen
      const entry = yield* this.makeHiddenEntry(owner)
      entry.isUnrecorded = true
      yield* Effect.addFinalizer(() => this.forgetUnrecorded(entry))
      const initialLog = initialLogOf(entry.id, settings, origin)
      yield* this.inMemory.start(entry, (lease) =>
        this.storage.createOnSubmit(entry, settings, initialLog, lease, () => this.reveal(entry)),
      )
      // The finalizer ends it.
      yield* this.checkOpen
      return this.managed(entry)
    }).pipe(Effect.uninterruptible)
  }

  /** From now on callers find the conversation. */
  private reveal(entry: Entry): void {
    entry.isUnrecorded = false
    entry.isHidden = false
    this.watchers.notify(entry)
  }

  private forgetUnrecorded(entry: Entry): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!entry.isUnrecorded) return Effect.void
      this.entries.delete(entry.id)
      return this.inMemory.release(entry, { quietly: true })
    })
  }

  /** Starts the shutdown once. Resolves at once with what completes at its end, for every caller the same. */
  private startShutdown(): Effect.Effect<Deferred.Deferred<void>> {
    return Effect.suspend(() => {
      if (this.closed !== undefined) return Effect.succeed(this.closed)
      const done = Deferred.makeUnsafe<void>()
      this.closed = done
      this.inMemory.halt()
      const all = [...this.entries.values()]
      const found = all.filter(({ isHidden, isUnrecorded }) => !isHidden || isUnrecorded)
      for (const { id } of found) this.entries.delete(id)
      const releasing = Effect.forEach(
        found,
        (entry) => this.inMemory.release(entry, { quietly: true }),
        { concurrency: "unbounded", discard: true },
      )
      // Those that are being removed or archived are released already, and may still run (L8).
      const others = Effect.forEach(all, ended, { discard: true })
      return Effect.andThen(releasing, others).pipe(
        Effect.andThen(this.inMemory.close),
        Effect.onExit((exit) => Deferred.done(done, exit)),
        Effect.forkDetach({ startImmediately: true, uninterruptible: true }),
        Effect.as(done),
      )
    })
  }
}
