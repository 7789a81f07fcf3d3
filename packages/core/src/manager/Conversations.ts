/**
 * The conversations of one process, behind the port `ConversationManager`.
 *
 * Owns the scope of each conversation. Keeps L3 (a start that fails leaves nothing behind) and L8 at its level:
 * closing the manager ends every conversation, all at the same time and within the bound of each. A conversation is in
 * the `ConversationStore` from its first event on and whatever it does is recorded there first (L10); memory is bounded: what
 * is idle leaves it and comes back when it is used (`ConversationManagerResidents`).
 */
import { type ConversationId, parseConversationId } from "@colloquy/protocol/Ids"
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type { OnTurnCompleted } from "../decider/CompletedTurn.ts"
import type { Conversation } from "../Conversation.ts"
import { ManagerClosed, NoSuchConversation, TooManyConversations } from "../ConversationErrors.ts"
import {
  type Access,
  ConversationManager,
  type CreateError,
  type RemoveError,
} from "../ConversationManager.ts"
import { isVisible } from "./Access.ts"
import { type Entry, makeEntry } from "./Entry.ts"
import { ManagedConversation } from "./ManagedConversation.ts"
import { pageOf } from "./Pages.ts"
import { make as makeResidents } from "./LoadedConversations.ts"
import { make as makeStorage, type Program, unavailable } from "./Storage.ts"
import { type ConversationSettings, SettingsResolver } from "../ConversationSettings.ts"
import { type ForkRule, problemOf } from "../ForkRule.ts"
import { beyondHistory, forkLog } from "../recovery/Fork.ts"
import { IdGenerator } from "../IdGenerator.ts"
import type { ModelClient } from "../ModelClient.ts"
import { numberDrafts } from "../decider/State.ts"
import { initialEvents } from "../decider/InitialEvents.ts"
import { withinStoreTimeout } from "../store/StoreTimeout.ts"
import { ConversationStore, type LogAddress } from "../ConversationStore.ts"
import type { StoreError } from "../StoreErrors.ts"
import type { ToolRuntime } from "../ToolRuntime.ts"

export interface ConversationsOptions {
  /**
   * That this manager made or took up and nobody has removed; one more is refused. Default 100,000: the store in memory keeps
   * their events.
   */
  readonly maxConversations?: number
  /**
   * In memory at once; the least recently used idle one leaves it to make room, and where none is idle one more is
   * refused. Default 1,000: at some 6 KiB each an idle process stays small.
   */
  readonly maxLoaded?: number
  /** Turns that run at once; a submission that would start one more is refused `TooManyTurns`. Default 1,000. */
  readonly maxTurns?: number
  /** Per conversation; one more is refused `TooManyListeners`. Default 1,024. */
  readonly maxListeners?: number
  /** A conversation that nobody used, ran or listened to for this long leaves memory. Default 10 minutes. */
  readonly idleTimeToLive?: Duration.Input
  /** Who makes conversations here, as their logs tell it. Default `colloquy`, version `0`. */
  readonly program?: Program
  /** Observes the turns of all conversations that the model has answered to their end. */
  readonly onTurnCompleted?: OnTurnCompleted
}

/** Ten seconds for a store, one for a turn, its kill grace, and some room. */
const shutdownBound = Duration.seconds(12)

const everything: ForkRule = { _tag: "DropLastUserMessages", n: 0 }

const defaultProgram: Program = { originator: "colloquy", version: "0" }

const make = Effect.fnUntraced(function* (options: ConversationsOptions) {
  const maxConversations = options.maxConversations ?? 100_000
  const ids = yield* IdGenerator
  const store = yield* ConversationStore
  /** Those that this manager made or took up. */
  const entries = new Map<string, Entry>()
  /** Conversations that have no id yet. */
  let starting = 0
  let ended: Deferred.Deferred<void> | undefined
  const watchers = new Set<() => void>()

  const changed = () => {
    for (const watcher of watchers) watcher()
  }

  const storage = makeStorage(store, yield* SettingsResolver, options.program ?? defaultProgram)
  const residents = yield* makeResidents({
    maxLoaded: options.maxLoaded ?? 1000,
    maxTurns: options.maxTurns ?? 1000,
    maxListeners: options.maxListeners ?? 1024,
    idleTimeToLive: Duration.fromInputUnsafe(options.idleTimeToLive ?? "10 minutes"),
    storage,
    ...(options.onTurnCompleted === undefined ? {} : { onTurnCompleted: options.onTurnCompleted }),
  })

  const handle = (entry: Entry): Conversation => new ManagedConversation(entry, residents)

  const isOpen = Effect.suspend(() =>
    ended === undefined ? Effect.void : Effect.fail(new ManagerClosed()),
  )

  /** One that is in the store and not here yet. */
  const takeUp = Effect.fnUntraced(function* (name: string, where: LogAddress, access?: Access) {
    const { meta } = yield* withinStoreTimeout("metadata", store.metadata(where))
    yield* isOpen
    const { id } = meta
    const entry = entries.get(id) ?? makeEntry(id, { _tag: "Stored" }, meta.owner)
    if (entry.isHidden || !isVisible(entry, access))
      return yield* new NoSuchConversation({ id: name })
    entries.set(id, entry)
    if ("path" in where) entry.path = where.path
    return entry
  })

  const find = (name: string, access?: Access) =>
    Effect.suspend(() => {
      const entry = entries.get(name)
      if (entry !== undefined && !entry.isHidden && isVisible(entry, access)) {
        return Effect.succeed(entry)
      }
      const parsed = parseConversationId(name)
      return entry !== undefined || "problem" in parsed
        ? Effect.fail(new NoSuchConversation({ id: name }))
        : takeUp(name, { id: parsed.id }, access)
    })

  /** A store that cannot say whether it has it. */
  const found = (
    name: string,
    finding: Effect.Effect<Entry, NoSuchConversation | ManagerClosed | StoreError>,
  ) =>
    Effect.catchTag(finding, "StoreError", (error) => Effect.fail(unavailable({ id: name }, error)))

  /** Counts from now on, and nobody finds it before it is made. */
  const announce = (owner: string | undefined): Effect.Effect<Entry, TooManyConversations> => {
    if (entries.size + starting >= maxConversations) {
      return Effect.fail(new TooManyConversations({ limit: "total", maxConversations }))
    }
    starting++
    return ids.conversationId.pipe(
      Effect.map((id) => {
        const entry = makeEntry(id, { _tag: "Gone" }, owner)
        entry.isHidden = true
        entries.set(id, entry)
        return entry
      }),
      Effect.ensuring(
        Effect.sync(() => {
          starting--
        }),
      ),
    )
  }

  const start = (
    settings: ConversationSettings,
    owner: string | undefined,
    from?: { readonly id: string; readonly log: (id: ConversationId) => ReadonlyArray<Event> },
  ): Effect.Effect<Conversation, CreateError> =>
    Effect.gen(function* () {
      yield* isOpen
      const entry = yield* announce(owner)
      const { id } = entry
      return yield* Effect.gen(function* () {
        const birth =
          from === undefined
            ? { events: numberDrafts(0, initialEvents(id, settings)) }
            : { events: from.log(id), forkedFrom: from.id }
        yield* residents.begin(entry, settings, birth)
        if (ended !== undefined) {
          yield* residents.end(entry)
          yield* storage.forget(entry)
          return yield* new ManagerClosed()
        }
        entry.isHidden = false
        changed()
        return handle(entry)
      }).pipe(Effect.onError(() => Effect.sync(() => entries.delete(id))))
    }).pipe(Effect.uninterruptible)

  /** Ends its life here, then has the store do something with what it has of it; nobody finds it meanwhile. */
  const putAway = (
    operation: "delete" | "archive",
    name: string,
    access: Access | undefined,
  ): Effect.Effect<void, RemoveError> =>
    Effect.gen(function* () {
      yield* isOpen
      const entry = yield* find(name, access)
      entry.isHidden = true
      yield* residents.end(entry)
      const { id } = entry
      const done = yield* Effect.exit(withinStoreTimeout(operation, store[operation](id)))
      if (Exit.isFailure(done) || operation === "archive") {
        entry.placement = { _tag: "Stored" }
        entry.isHidden = false
      } else entries.delete(id)
      yield* done
      // Its file has another place now.
      delete entry.path
      changed()
      // An interrupt in between would leave a conversation that nobody can find or end.
    }).pipe(Effect.uninterruptible)

  /** Begins once; whoever asks waits for the same end. */
  const endAll = Effect.suspend(() => {
    if (ended !== undefined) return Effect.succeed(ended)
    const done = Deferred.makeUnsafe<void>()
    ended = done
    residents.halt()
    const all = [...entries.values()].filter(({ isHidden }) => !isHidden)
    for (const { id } of all) entries.delete(id)
    const quietly = (entry: Entry) => residents.end(entry, true)
    return Effect.forEach(all, quietly, { concurrency: "unbounded", discard: true }).pipe(
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

  yield* Effect.forkScoped(residents.sweep)
  yield* Effect.addFinalizer(() => shutdown)

  const load = (entry: Entry) => residents.using(entry, () => Effect.succeed(handle(entry)))

  return ConversationManager.of({
    create: Effect.fnUntraced(function* ({ resumePath, ...settings }, access) {
      const owner = access?.owner ?? undefined
      if (resumePath === undefined) return yield* start(settings, owner)
      yield* isOpen
      const { events, id } = yield* storage.history(resumePath, access)
      return yield* start(settings, owner, {
        id,
        log: (made) => forkLog(events, everything, { id: made, settings }),
      })
    }),
    get: Effect.fnUntraced(function* (id, access) {
      yield* isOpen
      return yield* load(yield* found(id, find(id, access)))
    }),
    open: Effect.fnUntraced(function* (path, access) {
      yield* isOpen
      return yield* load(yield* found(path, takeUp(path, { path }, access)))
    }),
    list: (page) => pageOf(store, entries, page),
    metadata: (where, access) =>
      Effect.filterOrFail(
        withinStoreTimeout("metadata", store.metadata(where)),
        ({ meta }) => isVisible(meta, access),
        () => new NoSuchConversation({ id: "id" in where ? where.id : where.path }),
      ),
    remove: (id, access) => putAway("delete", id, access),
    archive: (id, access) => putAway("archive", id, access),
    unarchive: Effect.fnUntraced(function* (name, access) {
      yield* isOpen
      const parsed = parseConversationId(name)
      if ("problem" in parsed) return yield* new NoSuchConversation({ id: name })
      if (access !== undefined) {
        const { meta } = yield* withinStoreTimeout("metadata", store.metadata({ id: parsed.id }))
        if (!isVisible(meta, access)) return yield* new NoSuchConversation({ id: name })
      }
      yield* withinStoreTimeout("unarchive", store.unarchive(parsed.id))
      changed()
    }),
    fork: Effect.fnUntraced(function* (id, rule, access) {
      yield* isOpen
      const problem = problemOf(rule)
      if (problem !== undefined) return yield* problem
      const entry = yield* found(id, find(id, access))
      const { events, settings } = yield* residents.using(entry, (conversation) =>
        Effect.all({
          events: conversation.events,
          settings: Effect.map(conversation.state, (state) => state.settings),
        }),
      )
      const beyond = beyondHistory(events, rule)
      if (beyond !== undefined) return yield* beyond
      return yield* start(settings, entry.owner, {
        id: entry.id,
        log: (forked) => forkLog(events, rule, { id: forked, settings }),
      })
    }),
    watch: (listener) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => watchers.add(listener)),
          () => Effect.sync(() => watchers.delete(listener)),
        ),
      ),
    shutdown,
    isClosed: Effect.sync(() => ended !== undefined),
  })
})

export const layerWith = (
  options: ConversationsOptions,
): Layer.Layer<
  ConversationManager,
  never,
  ModelClient | ToolRuntime | IdGenerator | ConversationStore | SettingsResolver
> => Layer.effect(ConversationManager, make(options))

/** With every limit at its default. */
export const layer = layerWith({})
