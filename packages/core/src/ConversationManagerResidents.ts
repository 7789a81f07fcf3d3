/**
 * Which conversations are in memory: loads them when they are used, and stores those that are idle, the least
 * recently used first, when room is needed or their time is over.
 *
 * A conversation moves between memory and store in a fiber of its own, so that nobody's interruption leaves it in
 * between; who wants it meanwhile waits. A conversation whose `save` fails goes on in memory: nothing is lost.
 */
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { makeIn, type OwnedConversation } from "./Conversation.ts"
import { type ConversationUnavailable, TooManyConversations } from "./ConversationErrors.ts"
import type { Entry, Live } from "./ConversationManagerEntry.ts"
import { sweep } from "./ConversationManagerSweep.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import { make as makeStorage, unavailable } from "./ConversationManagerStorage.ts"
import { ConversationStore } from "./ConversationStore.ts"
import type { ModelClient } from "./ModelClient.ts"
import type { Existing } from "./Restore.ts"
import type { ToolRuntime } from "./ToolRuntime.ts"
import { TurnPermits } from "./TurnPermits.ts"

export interface ResidentsOptions {
  readonly maxLoaded: number
  readonly maxTurns: number
  readonly maxListeners: number
  readonly idleTimeToLive: Duration.Duration
  /** A conversation ended by itself: the manager forgets it. */
  readonly onEnded: (entry: Entry) => void
}

/** True when it could be done. Why it could not was logged by the storage, and whose move it was is told. */
const whatever = (move: Effect.Effect<void, ConversationUnavailable>): Effect.Effect<boolean> =>
  move.pipe(
    Effect.as(true),
    Effect.catch(() => Effect.succeed(false)),
  )

export const make = Effect.fnUntraced(function* (options: ResidentsOptions) {
  const services = yield* Effect.context<ModelClient | ToolRuntime>()
  const storage = makeStorage(yield* ConversationStore)
  const permits = new TurnPermits(options.maxTurns)
  const moves = yield* Scope.make()
  const room = yield* Semaphore.make(1)
  const someLoaded = yield* Latch.make()
  /** Those in memory or on the way out, the least recently used first. */
  const residents = new Set<Entry>()
  /** Residents, and those for which room is kept. */
  let loaded = 0
  const moving = new Set<Entry>()
  /** True once no move may begin any more. */
  let halted = false

  const touch = (entry: Entry) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (!residents.delete(entry)) return
      residents.add(entry)
      entry.usedAtMs = now
    })

  /** Takes it out of memory's account. */
  const depart = (entry: Entry) => {
    if (residents.delete(entry)) loaded--
  }

  const open = Effect.fnUntraced(function* (
    entry: Entry,
    settings: ConversationSettings,
    existing: Existing | undefined,
  ): Effect.fn.Return<Live> {
    const scope = yield* Scope.make()
    const fate = { ended: false }
    const onClose = Effect.suspend(() => {
      fate.ended = true
      const { slot } = entry
      return slot._tag === "Live" && slot.live.fate === fate ? ended(entry, slot.live) : Effect.void
    })
    const conversation = yield* makeIn(scope, entry.id, settings, {
      onClose,
      permits,
      maxListeners: options.maxListeners,
      ...(existing === undefined ? {} : { existing }),
    }).pipe(
      // The manager's own for all: one of the caller's would be held as long as the conversation lives.
      Effect.updateContext((_: Context.Context<never>) => services),
      Effect.onError(() => Scope.close(scope, Exit.void)),
    )
    return { conversation, scope, fate }
  })

  /** Its life is over without our doing: nothing of it is kept. */
  const ended = (entry: Entry, live: Live) =>
    Effect.suspend(() => {
      depart(entry)
      entry.slot = { _tag: "Gone", live }
      options.onEnded(entry)
      return storage.remove(entry).pipe(
        Effect.catch((error) => Effect.logError(`${entry.id} stays in the store`, error)),
        Effect.forkIn(moves),
        Effect.asVoid,
      )
    })

  /** It is in memory now; room was kept for it. */
  const occupy = (entry: Entry, live: Live) =>
    Effect.suspend(() => {
      entry.slot = { _tag: "Live", live }
      residents.add(entry)
      someLoaded.openUnsafe()
      return live.fate.ended ? ended(entry, live) : Effect.void
    })

  const moveOut = Effect.fnUntraced(function* (entry: Entry, live: Live) {
    const events = yield* live.conversation.suspend
    if (events === undefined) return yield* occupy(entry, live)
    const { settings, receipts } = yield* live.conversation.state
    const kept = { settings, receipts, events }
    // What is left of this life: its scope, and a turn's fiber that would not stop.
    yield* Effect.forkIn(Scope.close(live.scope, Exit.void), moves, { uninterruptible: true })
    const saved = yield* Effect.exit(storage.save(entry, kept))
    if (Exit.isSuccess(saved)) {
      entry.slot = { _tag: "Stored" }
      depart(entry)
    } else yield* occupy(entry, yield* open(entry, settings, kept))
    return yield* saved
  })

  /** Begins a life in memory. Fails, and nothing is left behind, when there is no room. */
  const settle = <E>(
    entry: Entry,
    source: Effect.Effect<{ readonly settings: ConversationSettings } & Partial<Existing>, E>,
  ): Effect.Effect<void, E | TooManyConversations> =>
    Effect.andThen(
      reserve,
      Effect.gen(function* () {
        const { settings, events, receipts } = yield* source
        const existing =
          events === undefined
            ? undefined
            : { events, ...(receipts === undefined ? {} : { receipts }) }
        yield* occupy(entry, yield* open(entry, settings, existing))
        yield* touch(entry)
      }).pipe(Effect.onError(() => Effect.sync(() => loaded--))),
    )

  const moveIn = (entry: Entry) =>
    settle(entry, storage.load(entry)).pipe(
      Effect.catchTag("TooManyConversations", ({ message }) =>
        Effect.fail(unavailable(entry, message)),
      ),
    )

  /** Starts a move at once, where nothing interrupts, and waits for it. Where it fails all is as before. */
  const move = (
    entry: Entry,
    to: "Stored" | "Live",
    run: Effect.Effect<void, ConversationUnavailable>,
  ) => {
    const before = entry.slot
    const done = Deferred.makeUnsafe<void, ConversationUnavailable>()
    entry.slot = { _tag: "Moving", to, done }
    moving.add(entry)
    return run.pipe(
      Effect.onExit((exit) => {
        if (entry.slot._tag === "Moving" && entry.slot.done === done) entry.slot = before
        moving.delete(entry)
        return Deferred.done(done, exit)
      }),
      Effect.forkIn(moves, { startImmediately: true, uninterruptible: true }),
      Effect.andThen(Effect.interruptible(Deferred.await(done))),
    )
  }

  /** Stores it if nobody needs it now; else nothing happens. Fails when the store does. */
  const evict = (entry: Entry): Effect.Effect<void, ConversationUnavailable> =>
    Effect.suspend(() => {
      const { slot } = entry
      if (slot._tag === "Moving" && slot.to === "Stored") {
        return Effect.interruptible(Deferred.await(slot.done))
      }
      if (halted || slot._tag !== "Live" || entry.uses > 0 || entry.leaving) return Effect.void
      return move(entry, "Stored", moveOut(entry, slot.live))
    }).pipe(Effect.uninterruptible)

  /** Keeps room for one more in memory; where there is none, what has not been used for longest makes it. */
  const reserve: Effect.Effect<void, TooManyConversations> = Effect.suspend(() => {
    if (loaded < options.maxLoaded) {
      loaded++
      return Effect.void
    }
    return room.withPermit(makeRoom)
  })
  const makeRoom = Effect.gen(function* () {
    let left = residents.size
    for (const entry of residents) {
      if (left-- === 0) break
      // One that cannot be stored says that none can.
      if (!(yield* whatever(evict(entry)))) break
      if (loaded < options.maxLoaded) {
        loaded++
        return
      }
    }
    return yield* new TooManyConversations({
      limit: "loaded",
      maxConversations: options.maxLoaded,
    })
  })

  const resident = (entry: Entry): Effect.Effect<OwnedConversation, ConversationUnavailable> =>
    Effect.suspend(() => {
      const { slot } = entry
      switch (slot._tag) {
        case "Live":
          return Effect.succeed(slot.live.conversation)
        case "Moving": {
          const done = Effect.interruptible(Deferred.await(slot.done))
          return Effect.andThen(slot.to === "Live" ? done : whatever(done), resident(entry))
        }
        case "Stored":
          return halted || entry.leaving
            ? Effect.fail(unavailable(entry, "it is being ended"))
            : Effect.andThen(move(entry, "Live", moveIn(entry)), resident(entry))
        case "Gone":
          return slot.live === undefined
            ? Effect.fail(unavailable(entry, "it was removed"))
            : Effect.succeed(slot.live.conversation)
      }
    })

  /** Does something with a conversation, loaded if need be; it stays in memory meanwhile. */
  const using = <A, E, R>(
    entry: Entry,
    use: (conversation: OwnedConversation) => Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | ConversationUnavailable, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        entry.uses++
        return Effect.andThen(touch(entry), resident(entry)).pipe(
          Effect.flatMap((conversation) => restore(use(conversation))),
          Effect.ensuring(Effect.sync(() => entry.uses--)),
        )
      }),
    )

  /** Waits until it is where it stays. */
  const settled = (entry: Entry): Effect.Effect<Exclude<Entry["slot"], { _tag: "Moving" }>> =>
    Effect.suspend(() =>
      entry.slot._tag === "Moving"
        ? Effect.andThen(whatever(Deferred.await(entry.slot.done)), settled(entry))
        : Effect.succeed(entry.slot),
    )

  /** Ends its life in memory: its turn, its listeners, its fiber. Returns when that is done. */
  const end = Effect.fnUntraced(function* (entry: Entry) {
    const slot = yield* settled(entry)
    if (slot._tag === "Gone") return
    depart(entry)
    entry.slot = slot._tag === "Live" ? { _tag: "Gone", live: slot.live } : { _tag: "Gone" }
    if (slot._tag === "Live") yield* Scope.close(slot.live.scope, Exit.void)
  }, Effect.uninterruptible)

  /** Makes the store forget it. */
  const erase = (entry: Entry) => Effect.andThen(settled(entry), storage.remove(entry))

  return {
    begin: settle,
    using,
    settled,
    touch,
    end,
    erase,
    /** Stores what is idle for its time; never ends. */
    sweep: sweep({
      residents,
      someLoaded,
      maxIdleMs: Duration.toMillis(options.idleTimeToLive),
      evict: (entry) => whatever(evict(entry)),
      touch,
    }),
    /** From now on nothing moves that does not already. */
    halt: () => {
      halted = true
    },
    /** Waits for the moves under way, and for what they left behind. */
    stop: Effect.suspend(() => Effect.forEach([...moving], settled, { discard: true })).pipe(
      Effect.andThen(Scope.close(moves, Exit.void)),
    ),
  }
})

export type Residents = Effect.Success<ReturnType<typeof make>>
