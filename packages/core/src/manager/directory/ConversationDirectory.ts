/**
 * The state of one manager: which conversations exist for it, and what creates, finds, removes and ends them.
 *
 * Keeps L3 (a failed creation leaves nothing behind) and L8 at its level (the shutdown ends every conversation, all at the
 * same time and each within its bound). `Creation` creates conversations; `Ending` removes and archives them; `LoadedConversations` decides which are in memory;
 * `Storage` reads and writes their logs. The members that `ConversationManager` documents behave as described there.
 */
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
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
  CopyOptions,
  CreateError,
  ForkOptions,
  GetError,
} from "../../ConversationManager.ts"
import type { ConversationSettings } from "../../ConversationSettings.ts"
import type { ConversationSummary, LogAddress } from "../../ConversationStore.ts"
import { type BadForkRule, type ForkRule, problemOf } from "../../ForkRule.ts"
import { beyondHistory, forkLog } from "../../recovery/Fork.ts"
import { withinStoreTimeout } from "../../store/StoreTimeout.ts"
import type { StoreError } from "../../StoreErrors.ts"
import type { Entry } from "../Entry.ts"
import { ManagedConversation } from "../ManagedConversation.ts"
import { orUnavailable } from "../Storage.ts"
import { Creation } from "./Creation.ts"
import { ConversationQuota, type QuotaParts } from "./ConversationQuota.ts"
import type { DirectoryParts } from "./DirectoryParts.ts"
import { Ending } from "./Ending.ts"
import { OperationOrder } from "./OperationOrder.ts"
import { Entries } from "./Entries.ts"
import { findEntry, findStoredEntry, visibleMetadata } from "./FindEntry.ts"
import type { Origin } from "./InitialLog.ts"
import { pageOf } from "./Pages.ts"
import { Shutdown } from "./Shutdown.ts"
import { Watchers } from "./Watchers.ts"

type ForkError = GetError | CreateError | BadForkRule

/** The conversations of one manager. */
export class ConversationDirectory {
  private readonly parts: DirectoryParts
  private readonly creation: Creation
  /** Lets the calls that make the copy with one id follow one another. */
  private readonly forks = new OperationOrder()
  /** What removes, archives and unarchives them. */
  readonly ending: Ending

  constructor({
    places,
    quotaOf,
    ...parts
  }: Omit<DirectoryParts, "entries" | "shutdown" | "watchers"> & QuotaParts) {
    const entries = new Entries()
    const shutdown = new Shutdown(entries, parts.inMemory)
    this.parts = { ...parts, entries, shutdown, watchers: new Watchers() }
    const quota = new ConversationQuota(entries, defined({ quotaOf, places }))
    this.creation = new Creation(this.parts, quota)
    this.ending = new Ending(this.parts, quota)
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
    return visibleMetadata(this.parts.store, address, access)
  }

  list(...[page]: Parameters<ConversationManager["Service"]["list"]>) {
    return pageOf(this.parts.store, this.parts.entries, page)
  }

  fork(
    id: string,
    rule: ForkRule,
    access?: Access,
    { id: copy, ...options }: CopyOptions = {},
  ): Effect.Effect<Conversation, ForkError> {
    const forking = this.copied(id, rule, access, options, copy)
    return copy === undefined
      ? forking
      : this.forks.next(
          copy,
          "create",
          Effect.interruptible(this.orMade(copy, id, access, forking)),
        )
  }

  /** Resolves with the copy that an earlier call with this id has made, where this one cannot make it. */
  private orMade(
    copy: ConversationId,
    source: string,
    access: Access | undefined,
    forking: Effect.Effect<Conversation, ForkError>,
  ): Effect.Effect<Conversation, ForkError> {
    return Effect.catch(forking, (error): Effect.Effect<Conversation, ForkError> => {
      if (error._tag === "ManagerClosed") return Effect.fail(error)
      return this.metadata({ id: copy }, access).pipe(
        // One that the caller may not use counts as absent, and so does one that is no copy of this conversation.
        Effect.filterOrFail(
          ({ meta }) => meta.forkedFrom === source,
          () => error,
        ),
        Effect.catchTag("NoSuchConversation", () => Effect.fail(error)),
        // With its lease it is certain that the process which has made it does not withdraw it.
        Effect.andThen(this.get(copy, access)),
      )
    })
  }

  private copied(
    id: string,
    rule: ForkRule,
    access: Access | undefined,
    options: ForkOptions,
    copy: ConversationId | undefined,
  ): Effect.Effect<Conversation, ForkError> {
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
      const origin: Origin = {
        id: entry.id,
        log: (forked) => forkLog(source, rule, { id: forked, settings }),
      }
      return yield* this.creation.start(settings, entry.owner, origin, copy)
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
