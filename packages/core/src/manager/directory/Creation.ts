/**
 * Creates the conversations of one manager. A creation that fails leaves nothing behind (L3), and no caller finds a
 * conversation before it is in the store.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Conversation } from "../../Conversation.ts"
import { type CannotResume, ManagerClosed, TooManyConversations } from "../../ConversationErrors.ts"
import type { Access, CreateError } from "../../ConversationManager.ts"
import type { ConversationSettings } from "../../ConversationSettings.ts"
import type { ForkRule } from "../../ForkRule.ts"
import { forkLog } from "../../recovery/Fork.ts"
import { type Entry, makeEntry } from "../Entry.ts"
import { ManagedConversation } from "../ManagedConversation.ts"
import { StoreError } from "../../StoreErrors.ts"
import type { ConversationQuota } from "./ConversationQuota.ts"
import type { DirectoryParts } from "./DirectoryParts.ts"
import { type Beginning, importedOrigin, initialLogOf, type Origin } from "./InitialLog.ts"

const wholeHistory: ForkRule = { _tag: "DropLastUserMessages", n: 0 }

const exists = (id: ConversationId): StoreError =>
  new StoreError({
    operation: "create",
    reason: "Exists",
    message: `conversation ${id} exists already`,
  })

/** See the header. */
export class Creation {
  private readonly parts: DirectoryParts
  private readonly quota: ConversationQuota
  /** Conversations that are being created and have no id yet. */
  private creating = 0

  constructor(parts: DirectoryParts, quota: ConversationQuota) {
    this.parts = parts
    this.quota = quota
  }

  /** What a new conversation begins with, if its settings name a history. */
  originOf(
    { history, resumePath }: Beginning,
    settings: ConversationSettings,
    access: Access | undefined,
  ): Effect.Effect<Origin | undefined, ManagerClosed | CannotResume> {
    if (resumePath === undefined) return Effect.succeed(importedOrigin(history, settings))
    const stored = Effect.andThen(
      this.parts.shutdown.checkOpen,
      this.parts.storage.history(resumePath, access),
    )
    return Effect.map(stored, ({ id, source }) => ({
      id,
      log: (created) => forkLog(source, wholeHistory, { id: created, settings }),
    }))
  }

  /**
   * Creates a conversation, with the log of its origin or with the first events of a new one. Fails where there is one with
   * the given id already.
   */
  start(
    settings: ConversationSettings,
    owner: string | undefined,
    origin?: Origin,
    id?: ConversationId,
  ): Effect.Effect<Conversation, CreateError> {
    return Effect.gen({ self: this }, function* () {
      yield* this.parts.shutdown.checkOpen
      const entry = yield* this.makeHiddenEntry(owner, id)
      return yield* this.startEntry(entry, settings, origin).pipe(
        Effect.onError(() => this.forget(entry)),
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
      yield* this.parts.inMemory.start(entry, (lease) =>
        this.parts.storage.create(entry, settings, initialLog, lease),
      )
      if (this.parts.shutdown.hasStarted) {
        yield* this.parts.inMemory.release(entry, { quietly: false })
        yield* this.parts.storage.deleteUnknown(entry)
        return yield* new ManagerClosed()
      }
      yield* this.reveal(entry, settings)
      return new ManagedConversation(entry, this.parts.inMemory)
    })
  }

  /** Creates a conversation whose log is created by its first record. Forgets it if the scope closes before. */
  startUnrecorded(
    settings: ConversationSettings,
    owner: string | undefined,
    origin: Origin | undefined,
  ): Effect.Effect<Conversation, CreateError, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      yield* this.parts.shutdown.checkOpen
      const entry = yield* this.makeHiddenEntry(owner)
      entry.isUnrecorded = true
      yield* Effect.addFinalizer(() => this.forgetUnrecorded(entry))
      const initialLog = initialLogOf(entry.id, settings, origin)
      yield* this.parts.inMemory.start(entry, (lease) =>
        this.parts.storage.createOnSubmit(
          entry,
          settings,
          initialLog,
          lease,
          this.reveal(entry, settings),
        ),
      )
      // The finalizer ends it.
      yield* this.parts.shutdown.checkOpen
      return new ManagedConversation(entry, this.parts.inMemory)
    }).pipe(Effect.uninterruptible)
  }

  /** From now on callers find the conversation. */
  private reveal(entry: Entry, { ephemeral }: ConversationSettings): Effect.Effect<void> {
    return Effect.suspend(() => {
      entry.isUnrecorded = false
      entry.isHidden = false
      this.parts.watchers.notify(entry)
      return ephemeral === true ? Effect.void : this.quota.release(entry.id)
    })
  }

  /** The conversation was not created. */
  private forget({ id }: Entry): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.parts.entries.delete(id)
      return this.quota.release(id)
    })
  }

  private forgetUnrecorded(entry: Entry): Effect.Effect<void> {
    return Effect.suspend(() =>
      entry.isUnrecorded
        ? Effect.andThen(this.forget(entry), this.parts.inMemory.release(entry, { quietly: true }))
        : Effect.void,
    )
  }

  /** Makes the hidden entry of a new conversation. It counts from now on; no caller finds it before it is created. */
  private makeHiddenEntry(
    owner: string | undefined,
    given?: ConversationId,
  ): Effect.Effect<Entry, TooManyConversations | StoreError> {
    return Effect.suspend((): Effect.Effect<Entry, TooManyConversations | StoreError> => {
      const { entries, ids, maxConversations } = this.parts
      if (given !== undefined && entries.has(given)) return Effect.fail(exists(given))
      if (entries.size + this.creating >= maxConversations) {
        return Effect.fail(new TooManyConversations({ limit: "total", maxConversations }))
      }
      this.creating++
      return (given === undefined ? ids.conversationId : Effect.succeed(given)).pipe(
        Effect.tap((id) => this.quota.take(id, owner)),
        Effect.flatMap((id) => {
          const refused = this.quota.refusal(owner)
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
}
