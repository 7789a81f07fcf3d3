/**
 * The conversations of one process: made, found, listed, forked and ended here, nowhere else (§5.1, §5.2).
 *
 * Owns the scope of each conversation. Keeps L3 (a start that fails leaves nothing behind) and L8 at its level:
 * closing the manager ends every conversation, all at the same time and within the bound of each. Memory is bounded:
 * what is idle goes to the `ConversationStore` and comes back when it is used (`ConversationManagerResidents`).
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Conversation } from "./Conversation.ts"
import {
  type BadPageLimit,
  type ConversationUnavailable,
  ManagerClosed,
  NoSuchConversation,
  TooManyConversations,
} from "./ConversationErrors.ts"
import { type Entry, entryOf } from "./ConversationManagerEntry.ts"
import { Handle } from "./ConversationManagerHandle.ts"
import { type ConversationPage, type PageOptions, pageOf } from "./ConversationManagerPages.ts"
import { make as makeResidents } from "./ConversationManagerResidents.ts"
import { ask } from "./ConversationManagerStorage.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import { ConversationStore, type StoreError } from "./ConversationStore.ts"
import type { BadCursor } from "./Cursor.ts"
import { type BadForkRule, beyondHistory, forkLog, type ForkRule, problemOf } from "./Fork.ts"
import { IdGenerator } from "./IdGenerator.ts"
import type { ModelClient } from "./ModelClient.ts"
import type { ToolRuntime } from "./ToolRuntime.ts"

export interface ConversationManagerOptions {
  /** That exist, in memory or stored; one more is refused. Default 100,000: the store in memory keeps their events. */
  readonly maxConversations?: number
  /**
   * In memory at once; the least recently used idle one is stored to make room, and where none is idle one more is
   * refused. Default 1,000: at some 6 KiB each an idle process stays small.
   */
  readonly maxLoaded?: number
  /** Turns that run at once; a submission that would start one more is refused `TooManyTurns`. Default 1,000. */
  readonly maxTurns?: number
  /** Per conversation; one more is refused `TooManyListeners`. Default 1,024. */
  readonly maxListeners?: number
  /** A conversation that nobody used, ran or listened to for this long is stored. Default 10 minutes. */
  readonly idleTimeToLive?: Duration.Input
}

/** Ten seconds for a store, one for a turn, its kill grace, and some room. */
const shutdownBound = Duration.seconds(12)

/** Why a conversation could not be made. Nothing of it is left behind (L3). */
export type CreateError = TooManyConversations | ManagerClosed

export type GetError = NoSuchConversation | ConversationUnavailable | ManagerClosed

export class ConversationManager extends Context.Service<
  ConversationManager,
  {
    /** Makes a conversation; its first event, `session_configured`, is in its log when this returns. */
    readonly create: (settings: ConversationSettings) => Effect.Effect<Conversation, CreateError>
    /**
     * Finds a conversation and loads it if need be; several callers share one load. What it gives goes on working
     * when the conversation is stored meanwhile: each call loads it again.
     */
    readonly get: (id: string) => Effect.Effect<Conversation, GetError>
    /**
     * Newest first, a page at a time. Pages that follow on one another show each conversation that lives throughout
     * exactly once, whatever is made or removed in between.
     */
    readonly list: (
      options?: PageOptions,
    ) => Effect.Effect<ConversationPage, BadCursor | BadPageLimit>
    /**
     * Ends a conversation: its turn, its listeners, its fiber, what the store has of it. Returns when that is done.
     * From the call on nobody finds it. When the store fails it lives on, and removing it can be tried again.
     */
    readonly remove: (id: string) => Effect.Effect<void, NoSuchConversation | StoreError>
    /**
     * Makes a conversation of another one's beginning, with the settings that one has now; a turn that runs there
     * is left out and goes on. A rule that cannot be counted, or counts beyond the history, is refused.
     */
    readonly fork: (
      id: string,
      rule: ForkRule,
    ) => Effect.Effect<Conversation, GetError | CreateError | BadForkRule>
    /**
     * Calls the listener right after each change of the list: one was made, one was removed or has ended. Until the
     * scope ends. It must return at once.
     */
    readonly watch: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
    /**
     * Ends every conversation, all at once: returns when the slowest one's turn has stopped (one second and the kill
     * grace, where its tools stop) and a store that was just asked has answered, after twelve seconds whatever does
     * not. What is left behind then goes on ending by itself. No new work is taken from the call on. Stores nothing.
     * Closing the layer does the same.
     */
    readonly shutdown: Effect.Effect<void>
  }
>()("@colloquy/core/ConversationManager") {
  static readonly layerWith = (
    options: ConversationManagerOptions,
  ): Layer.Layer<
    ConversationManager,
    never,
    ModelClient | ToolRuntime | IdGenerator | ConversationStore
  > =>
    Layer.effect(
      this,
      Effect.suspend(() => make(options)),
    )

  static readonly layer = this.layerWith({})
}

const make = Effect.fnUntraced(function* (options: ConversationManagerOptions) {
  const maxConversations = options.maxConversations ?? 100_000
  const ids = yield* IdGenerator
  const store = yield* ConversationStore
  const entries = new Map<string, Entry>()
  /** Conversations that are being made. */
  let starting = 0
  let ordinals = 0
  let ended: Deferred.Deferred<void> | undefined
  const watchers = new Set<() => void>()

  const changed = () => {
    for (const watcher of watchers) watcher()
  }

  const unlist = (id: string) => {
    if (entries.delete(id)) changed()
  }

  const residents = yield* makeResidents({
    maxLoaded: options.maxLoaded ?? 1000,
    maxTurns: options.maxTurns ?? 1000,
    maxListeners: options.maxListeners ?? 1024,
    idleTimeToLive: Duration.fromInputUnsafe(options.idleTimeToLive ?? "10 minutes"),
    onEnded: ({ id }) => unlist(id),
  })

  const list = (entry: Entry) => {
    entry.ordinal = ordinals++
    entries.set(entry.id, entry)
    changed()
  }

  const handle = (entry: Entry): Conversation => new Handle(entry, residents)

  const find = (id: string) =>
    Effect.suspend(() => {
      const entry = entries.get(id)
      return entry === undefined || entry.leaving
        ? Effect.fail(new NoSuchConversation({ id }))
        : Effect.succeed(entry)
    })

  const open = Effect.suspend(() =>
    ended === undefined ? Effect.void : Effect.fail(new ManagerClosed()),
  )

  const start = (
    settings: ConversationSettings,
    logOf?: (id: ConversationId) => ReadonlyArray<Event>,
  ): Effect.Effect<Conversation, CreateError> =>
    Effect.gen(function* () {
      yield* open
      if (entries.size + starting >= maxConversations) {
        return yield* new TooManyConversations({ limit: "total", maxConversations })
      }
      starting++
      return yield* Effect.gen(function* () {
        const id = yield* ids.conversationId
        const entry = entryOf(id, { _tag: "Gone" })
        const events = logOf?.(id)
        const source = events === undefined ? { settings } : { settings, events }
        yield* residents.begin(entry, Effect.succeed(source))
        if (ended !== undefined) {
          yield* residents.end(entry)
          return yield* new ManagerClosed()
        }
        list(entry)
        return handle(entry)
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            starting--
          }),
        ),
      )
    }).pipe(Effect.uninterruptible)

  /** Begins once; whoever asks waits for the same end. */
  const endAll = Effect.suspend(() => {
    if (ended !== undefined) return Effect.succeed(ended)
    const done = Deferred.makeUnsafe<void>()
    ended = done
    residents.halt()
    const all = [...entries.values()]
    entries.clear()
    return Effect.forEach(all, residents.end, { concurrency: "unbounded", discard: true }).pipe(
      Effect.andThen(residents.stop),
      Effect.onExit((exit) => Deferred.done(done, exit)),
      Effect.forkDetach({ startImmediately: true, uninterruptible: true }),
      Effect.as(done),
    )
  })
  const shutdown = Effect.flatMap(Effect.uninterruptible(endAll), (done) =>
    Effect.interruptible(Deferred.await(done)).pipe(
      Effect.timeoutOrElse({
        duration: shutdownBound,
        orElse: () => Effect.logWarning("a tool does not stop, its conversation is left behind"),
      }),
    ),
  )

  // What cannot be listed is not lost: it is in the store, and told of.
  const kept = yield* ask("list", store.list).pipe(
    Effect.catch((error) => Effect.as(Effect.logError("stored conversations", error), [])),
  )
  for (const id of kept) list(entryOf(id, { _tag: "Stored" }))

  yield* Effect.forkScoped(residents.sweep)
  yield* Effect.addFinalizer(() => shutdown)

  return ConversationManager.of({
    create: (settings) => start(settings),
    get: Effect.fnUntraced(function* (id) {
      yield* open
      const entry = yield* find(id)
      return yield* residents.using(entry, () => Effect.succeed(handle(entry)))
    }),
    list: (page) => Effect.suspend(() => Effect.fromResult(pageOf(entries, page))),
    remove: Effect.fnUntraced(function* (id) {
      const entry = yield* find(id)
      entry.leaving = true
      yield* Effect.onError(residents.erase(entry), () =>
        Effect.sync(() => {
          entry.leaving = false
        }),
      )
      unlist(id)
      yield* residents.end(entry)
      // An interrupt in between would leave a conversation that nobody can find or end.
    }, Effect.uninterruptible),
    fork: Effect.fnUntraced(function* (id, rule) {
      yield* open
      const problem = problemOf(rule)
      if (problem !== undefined) return yield* problem
      const entry = yield* find(id)
      const { events, settings } = yield* residents.using(entry, (conversation) =>
        Effect.all({
          events: conversation.events,
          settings: Effect.map(conversation.state, (state) => state.settings),
        }),
      )
      const beyond = beyondHistory(events, rule)
      if (beyond !== undefined) return yield* beyond
      return yield* start(settings, (id) => forkLog(events, rule, { id, settings }))
    }),
    watch: (listener) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => watchers.add(listener)),
          () => Effect.sync(() => watchers.delete(listener)),
        ),
      ),
    shutdown,
  })
})
