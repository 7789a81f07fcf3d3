/**
 * Which conversations are in memory: loads them when they are used, and lets those go that are idle, the least
 * recently used first, when room is needed or their time is over. One in memory has the lease of its log (L16); what
 * leaves memory gives it back, and has nothing to save: everything it did is recorded.
 *
 * A conversation moves between memory and store in a fiber of its own, so that nobody's interruption leaves it in
 * between; who wants it meanwhile waits. One that can record nothing any more is let go, too: its next use loads what
 * is recorded.
 */
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { OnTurnCompleted } from "../decider/CompletedTurn.ts"
import { begin, type OwnedConversation } from "../Conversation.ts"
import { type ConversationUnavailable, TooManyConversations } from "../ConversationErrors.ts"
import { type Entry, type Loaded, notifyMoved } from "./Entry.ts"
import { sweep } from "./IdleSweep.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"
import { type InitialLog, type Source, type Storage, unavailable } from "./Storage.ts"
import type { ModelClient } from "../ModelClient.ts"
import type { ToolRuntime } from "../ToolRuntime.ts"
import { TurnPermits } from "../conversation/TurnPermits.ts"

export interface LoadedConversationsOptions {
  readonly maxLoaded: number
  readonly maxTurns: number
  readonly maxListeners: number
  readonly idleTimeToLive: Duration.Duration
  readonly storage: Storage
  readonly onTurnCompleted?: OnTurnCompleted
}

/** A store that does not take a lease back in this time keeps nobody waiting. */
const releaseBound = Duration.seconds(10)

/** True when it could be done. Why it could not was logged by the storage, and whose move it was is told. */
const whatever = (move: Effect.Effect<void, ConversationUnavailable>): Effect.Effect<boolean> =>
  move.pipe(
    Effect.as(true),
    Effect.catch(() => Effect.succeed(false)),
  )

export const make = Effect.fnUntraced(function* (options: LoadedConversationsOptions) {
  const services = yield* Effect.context<ModelClient | ToolRuntime>()
  const { storage } = options
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

  const lessor = (scope: Scope.Closeable) =>
    Effect.interruptible(Scope.close(scope, Exit.void)).pipe(
      Effect.timeoutOrElse({
        duration: releaseBound,
        orElse: () => Effect.logWarning("a store does not take a lease back, it is left behind"),
      }),
    )

  const open = Effect.fnUntraced(function* (
    entry: Entry,
    { existing, repairs, settings, writer }: Source,
    lease: Scope.Closeable,
  ): Effect.fn.Return<Loaded, ConversationUnavailable> {
    const fate = { ended: false }
    const onClose = () => {
      fate.ended = true
      const { placement } = entry
      return placement._tag === "Live" && placement.live.fate === fate
        ? ended(entry, placement.live)
        : Effect.void
    }
    const { conversation, fiber } = yield* begin(entry.id, settings, {
      onClose,
      permits,
      maxListeners: options.maxListeners,
      ...(options.onTurnCompleted === undefined
        ? {}
        : { onTurnCompleted: options.onTurnCompleted }),
      existing,
      repairs,
      writer,
    }).pipe(
      // The manager's own for all: one of the caller's would be held as long as the conversation lives.
      Effect.updateContext((_: Context.Context<never>) => services),
    )
    return { conversation, fiber, lease, fate }
  })

  /** It is in the store alone, and can be loaded again. */
  const leave = Effect.fnUntraced(function* (entry: Entry, live: Loaded) {
    entry.settings = (yield* live.conversation.state).settings
    yield* lessor(live.lease)
    entry.placement = { _tag: "Stored" }
    depart(entry)
  })

  /** Its life is over without our doing; it can have another one. */
  const ended = (entry: Entry, live: Loaded): Effect.Effect<void> =>
    Effect.asVoid(whatever(move(entry, "Stored", leave(entry, live))))

  /** It is in memory now; room was kept for it. */
  const occupy = (entry: Entry, live: Loaded): Effect.Effect<void> =>
    Effect.suspend(() => {
      entry.placement = { _tag: "Live", live }
      residents.add(entry)
      someLoaded.openUnsafe()
      notifyMoved(entry)
      return live.fate.ended ? leave(entry, live) : Effect.void
    })

  const moveOut = Effect.fnUntraced(function* (entry: Entry, live: Loaded) {
    if (!(yield* live.conversation.suspend)) return yield* occupy(entry, live)
    // What is left of this life: perhaps a turn's fiber that would not stop.
    yield* Effect.forkIn(Fiber.await(live.fiber), moves, { uninterruptible: true })
    yield* leave(entry, live)
  })

  /** Begins a life in memory. Fails, and nothing is left behind, when there is no room. */
  const settle = <E>(
    entry: Entry,
    source: (lease: Scope.Scope) => Effect.Effect<Source, E>,
  ): Effect.Effect<void, E | TooManyConversations | ConversationUnavailable> =>
    Effect.andThen(
      reserve,
      Effect.gen(function* () {
        const lease = yield* Scope.make()
        const live = yield* Effect.flatMap(source(lease), (from) => open(entry, from, lease)).pipe(
          Effect.onError(() => lessor(lease)),
        )
        yield* occupy(entry, live)
        yield* touch(entry)
      }).pipe(Effect.onError(() => Effect.sync(() => loaded--))),
    )

  const moveIn = (entry: Entry) =>
    settle(entry, (lease) => storage.load(entry, lease)).pipe(
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
    const before = entry.placement
    const done = Deferred.makeUnsafe<void, ConversationUnavailable>()
    entry.placement = { _tag: "Moving", to, done }
    moving.add(entry)
    return run.pipe(
      Effect.onExit((exit) => {
        if (entry.placement._tag === "Moving" && entry.placement.done === done)
          entry.placement = before
        moving.delete(entry)
        return Deferred.done(done, exit)
      }),
      Effect.forkIn(moves, { startImmediately: true, uninterruptible: true }),
      Effect.andThen(Effect.interruptible(Deferred.await(done))),
    )
  }

  /** Lets it go if nobody needs it now; else nothing happens. */
  const evict = (entry: Entry): Effect.Effect<void, ConversationUnavailable> =>
    Effect.suspend(() => {
      const { placement } = entry
      if (placement._tag === "Moving" && placement.to === "Stored") {
        return Effect.interruptible(Deferred.await(placement.done))
      }
      if (halted || placement._tag !== "Live" || entry.uses > 0 || entry.isHidden)
        return Effect.void
      return move(entry, "Stored", moveOut(entry, placement.live))
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
      yield* whatever(evict(entry))
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
      const { placement } = entry
      switch (placement._tag) {
        case "Live":
          return Effect.succeed(placement.live.conversation)
        case "Moving": {
          const done = Effect.interruptible(Deferred.await(placement.done))
          return Effect.andThen(placement.to === "Live" ? done : whatever(done), resident(entry))
        }
        case "Stored":
          return halted || entry.isHidden
            ? Effect.fail(unavailable(entry, "it is being ended"))
            : Effect.andThen(move(entry, "Live", moveIn(entry)), resident(entry))
        case "Gone":
          return placement.live === undefined
            ? Effect.fail(unavailable(entry, "it was removed"))
            : Effect.succeed(placement.live.conversation)
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
  const settled = (entry: Entry): Effect.Effect<Exclude<Entry["placement"], { _tag: "Moving" }>> =>
    Effect.suspend(() =>
      entry.placement._tag === "Moving"
        ? Effect.andThen(whatever(Deferred.await(entry.placement.done)), settled(entry))
        : Effect.succeed(entry.placement),
    )

  /**
   * Ends its life in memory: its turn, its listeners, its fiber, its lease. Returns when that is done. `quietly`: one that
   * nobody uses ends without a word, or its log would grow by every process that had it.
   */
  const end = Effect.fnUntraced(function* (entry: Entry, quietly = false) {
    const slot = yield* settled(entry)
    if (slot._tag === "Gone") return
    depart(entry)
    entry.placement = slot._tag === "Live" ? { _tag: "Gone", live: slot.live } : { _tag: "Gone" }
    notifyMoved(entry)
    if (slot._tag !== "Live") return
    const { conversation, fiber, lease } = slot.live
    entry.settings = (yield* conversation.state).settings
    if (!quietly || !(yield* conversation.suspend)) yield* Fiber.interrupt(fiber)
    yield* lessor(lease)
  }, Effect.uninterruptible)

  return {
    /** Of a conversation that nobody has made before. */
    begin: (entry: Entry, settings: ConversationSettings, birth: InitialLog) =>
      settle(entry, (lease) => storage.create(entry, settings, birth, lease)),
    using,
    settled,
    touch,
    end,
    /** Lets go what is idle for its time; never ends. */
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

export type LoadedConversations = Effect.Success<ReturnType<typeof make>>
