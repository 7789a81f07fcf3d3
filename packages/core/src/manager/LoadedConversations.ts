/**
 * The conversations in memory: loads a stored conversation when it is used and evicts idle ones, the least recently
 * used first, when room is needed or their time is over. A loaded conversation holds the lease of its log (L16).
 * Eviction gives the lease back and saves nothing, because every durable event is recorded already.
 *
 * Never decides which conversations exist. `Entry.ts` has the diagram of placements.
 *
 *     Stored     ── load ───▶ Transition ──▶ Loaded       room is reserved first; a failure leaves it Stored
 *     Loaded     ── evict ──▶ Transition ──▶ Stored       only while idle; a busy one stays Loaded
 *     Loaded     ── its fiber ended ─▶ Transition ──▶ Stored       the next use loads what is recorded
 *     any other  ── release ▶ Removed                     waits for a transition that runs, then ends the fiber
 *
 * A transition runs in a fiber of its own and cannot be interrupted, so an interrupted caller never leaves a
 * conversation between memory and store. Callers that need it meanwhile wait for the transition.
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
import { defined } from "@colloquy/protocol/Defined"
import { start, type OwnedConversation } from "../Conversation.ts"
import type { ConversationObserver } from "../ConversationObserver.ts"
import { type ConversationUnavailable, TooManyConversations } from "../ConversationErrors.ts"
import { TurnPermits } from "../conversation/TurnPermits.ts"
import { AppendCalls } from "../store/AppendCalls.ts"
import type { OnTurnCompleted } from "../decider/CompletedTurn.ts"
import type { ModelClient } from "../ModelClient.ts"
import type { QuotaOf } from "../Quota.ts"
import type { ToolRuntime } from "../ToolRuntime.ts"
import {
  absentBecause,
  type Entry,
  type LoadedConversation,
  notifyMoved,
  type SettledPlacement,
  stored,
} from "./Entry.ts"
import { closeLease } from "./Lease.ts"
import { hasSucceeded } from "./HasSucceeded.ts"
import { RevocableLog } from "../store/RevocableLog.ts"
import { sweep } from "./IdleSweep.ts"
import { SharedSettings } from "./SharedSettings.ts"
import { type LogSource, type Storage, unavailable } from "./Storage.ts"

/** Limits of the conversations in memory, and where their logs are. */
export interface LoadedConversationsOptions {
  readonly maxLoaded: number
  /** Turns that run at once, in all conversations together. */
  readonly maxTurns: number
  /** Listeners of one conversation. */
  readonly maxListeners: number
  /** An unused conversation without turn and listener is evicted after this time. */
  readonly idleTimeToLive: Duration.Duration
  readonly storage: Storage
  readonly onTurnCompleted?: OnTurnCompleted
  readonly observer?: ConversationObserver
  readonly quotaOf?: QuotaOf
}

/** The conversations in memory. One per manager. */
export class LoadedConversations {
  private readonly options: LoadedConversationsOptions
  /** Context of every conversation: the manager's, since a conversation would keep that of the caller alive. */
  private readonly services: Context.Context<ModelClient | ToolRuntime>
  /** Scope of the fibers that carry out transitions. */
  private readonly transitions: Scope.Closeable
  private readonly permits: TurnPermits
  private readonly appends = new AppendCalls()
  private readonly evictionLock = Semaphore.makeUnsafe(1)
  private readonly someLoaded = Latch.makeUnsafe()
  /** Conversations in memory or being evicted, the least recently used first. */
  private readonly byUse = new Set<Entry>()
  /** Size of `byUse`, and the conversations for which room is reserved. */
  private reserved = 0
  private readonly inTransition = new Set<Entry>()
  private readonly settings = new SharedSettings()
  /** True once no transition may start any more. */
  private isHalted = false

  private constructor(
    options: LoadedConversationsOptions,
    parts: {
      readonly services: Context.Context<ModelClient | ToolRuntime>
      readonly transitions: Scope.Closeable
    },
  ) {
    this.options = options
    this.services = parts.services
    this.transitions = parts.transitions
    this.permits = new TurnPermits(options.maxTurns, options.quotaOf)
  }

  /** With nothing in memory. The services of the context are those of every conversation. */
  static readonly make = (
    options: LoadedConversationsOptions,
  ): Effect.Effect<LoadedConversations, never, ModelClient | ToolRuntime> =>
    Effect.gen(function* () {
      const services = yield* Effect.context<ModelClient | ToolRuntime>()
      return new LoadedConversations(options, { services, transitions: yield* Scope.make() })
    })

  /**
   * Reserves room, opens the log of a conversation and loads it. Resolves when it is `Loaded`. Fails, and leaves nothing in
   * memory, when there is no room or `openLog` fails, whose lease is given back then.
   */
  start<E>(
    entry: Entry,
    openLog: (lease: Scope.Scope) => Effect.Effect<LogSource, E>,
  ): Effect.Effect<void, E | TooManyConversations | ConversationUnavailable> {
    return Effect.andThen(
      this.reserve(),
      Effect.gen({ self: this }, function* () {
        const lease = yield* Scope.make()
        const loaded = yield* Effect.flatMap(openLog(lease), (source) =>
          this.startConversation(entry, source, lease),
        ).pipe(Effect.onError(() => closeLease(lease)))
        yield* this.place(entry, loaded)
        yield* this.touch(entry)
      }).pipe(Effect.onError(() => Effect.sync(() => this.reserved--))),
    )
  }

  /**
   * Runs `work` with the conversation, loading it first if needed. It is not evicted before `work` has ended. Several
   * callers share one load. Never interrupts a load; only the caller's wait is interrupted.
   */
  use<A, E, R>(
    entry: Entry,
    work: (conversation: OwnedConversation) => Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | ConversationUnavailable, R> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.clockWith((clock) => {
        entry.uses++
        this.touchAt(entry, clock.currentTimeMillisUnsafe())
        const { placement } = entry
        const working =
          placement._tag === "Loaded"
            ? restore(work(placement.loaded.conversation))
            : Effect.flatMap(this.loaded(entry), (conversation) => restore(work(conversation)))
        return Effect.ensuring(
          working,
          Effect.sync(() => entry.uses--),
        )
      }),
    )
  }

  /** Restarts the idle time of a conversation in memory. */
  touch(entry: Entry): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (nowMs) => this.touchAt(entry, nowMs))
  }

  private touchAt(entry: Entry, nowMs: number): void {
    if (!this.byUse.delete(entry)) return
    this.byUse.add(entry)
    entry.usedAtMs = nowMs
  }

  /** Resolves with the placement of the conversation, after a transition that runs. Loads nothing. */
  settled(entry: Entry): Effect.Effect<SettledPlacement> {
    return Effect.suspend(() =>
      entry.placement._tag === "Transition"
        ? Effect.andThen(hasSucceeded(Deferred.await(entry.placement.done)), this.settled(entry))
        : Effect.succeed(entry.placement),
    )
  }

  /**
   * Ends the conversation in memory: its turn, its listeners, its fiber, its lease. Resolves when that is done, and the
   * placement is `Removed` then. `quietly`: an idle conversation ends without an event, since otherwise its log would
   * grow with every process that loads it.
   */
  release(entry: Entry, { quietly }: { readonly quietly: boolean }): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const placement = yield* this.settled(entry)
      if (placement._tag === "Removed") return
      if (this.byUse.delete(entry)) this.reserved--
      const loaded = placement._tag === "Loaded" ? placement.loaded : undefined
      entry.placement = { _tag: "Removed", ...defined({ loaded }) }
      notifyMoved(entry)
      if (loaded === undefined) return
      const { conversation, fiber, lease } = loaded
      entry.settings = (yield* conversation.state).settings
      if (!quietly || !(yield* conversation.suspend)) yield* Fiber.interrupt(fiber)
      yield* closeLease(lease)
    }).pipe(Effect.uninterruptible)
  }

  /** Gives the conversation up; see `HeldConversations.release`. */
  handOver(entry: Entry): Effect.Effect<void> {
    return Effect.flatMap(this.settled(entry), (placement) => {
      if (placement._tag !== "Loaded" || entry.isHidden) return Effect.void
      const { loaded } = placement
      loaded.log.revoke()
      const given = Effect.andThen(Fiber.interrupt(loaded.fiber), this.store(entry, loaded))
      return hasSucceeded(this.transition(entry, "Stored", given))
    }).pipe(Effect.uninterruptible)
  }

  /** Evicts every conversation when its idle time is over. Never ends. */
  get sweep(): Effect.Effect<never> {
    const { byUse, someLoaded } = this
    const maxIdleMs = Duration.toMillis(this.options.idleTimeToLive)
    const evict = (entry: Entry) => hasSucceeded(this.evict(entry))
    return sweep({ byUse, someLoaded, maxIdleMs, evict, touch: (entry) => this.touch(entry) })
  }

  /** The conversations in memory, the least recently used first. */
  get all(): Iterable<Entry> {
    return this.byUse
  }

  /** From now on no transition starts. Those that run continue. */
  halt(): void {
    this.isHalted = true
  }

  /** Resolves when the transitions that run have ended, and the fibers of evicted conversations with them. */
  get close(): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.forEach([...this.inTransition], (entry) => this.settled(entry), { discard: true }),
    ).pipe(
      Effect.andThen(Scope.close(this.transitions, Exit.void)),
      Effect.andThen(this.appends.close),
    )
  }

  /** The conversation, loaded if needed. */
  private loaded(entry: Entry): Effect.Effect<OwnedConversation, ConversationUnavailable> {
    return Effect.suspend(() => {
      const { placement } = entry
      switch (placement._tag) {
        case "Loaded":
          return Effect.succeed(placement.loaded.conversation)
        case "Transition": {
          const done = Effect.interruptible(Deferred.await(placement.done))
          return Effect.andThen(
            placement.to === "Loaded" ? done : hasSucceeded(done),
            this.loaded(entry),
          )
        }
        case "Stored":
          return this.isHalted || entry.isHidden
            ? Effect.fail(unavailable(entry, absentBecause(entry, this.isHalted)))
            : Effect.andThen(this.transition(entry, "Loaded", this.load(entry)), this.loaded(entry))
        case "Removed":
          return placement.loaded === undefined
            ? Effect.fail(unavailable(entry, absentBecause(entry, this.isHalted)))
            : Effect.succeed(placement.loaded.conversation)
      }
    })
  }

  private load(entry: Entry): Effect.Effect<void, ConversationUnavailable> {
    return this.start(entry, (lease) => this.options.storage.load(entry, lease)).pipe(
      Effect.catchTag("TooManyConversations", ({ message }) =>
        Effect.fail(unavailable(entry, message)),
      ),
    )
  }

  /** Evicts the conversation if it is idle; otherwise does nothing. */
  private evict(entry: Entry): Effect.Effect<void, ConversationUnavailable> {
    return Effect.suspend(() => {
      const { placement } = entry
      if (placement._tag === "Transition" && placement.to === "Stored") {
        return Effect.interruptible(Deferred.await(placement.done))
      }
      const isUsed = entry.uses > 0 || entry.isHidden
      if (this.isHalted || placement._tag !== "Loaded" || isUsed) return Effect.void
      if (placement.loaded.conversation.isBusy) return Effect.void
      return this.transition(entry, "Stored", this.suspendAndStore(entry, placement.loaded))
    }).pipe(Effect.uninterruptible)
  }

  private suspendAndStore(entry: Entry, loaded: LoadedConversation): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      if (!(yield* loaded.conversation.suspend)) return yield* this.place(entry, loaded)
      // A turn that did not stop in time may still run in this fiber.
      yield* Effect.forkIn(Fiber.await(loaded.fiber), this.transitions, { uninterruptible: true })
      yield* this.store(entry, loaded)
      this.options.observer?.evicted()
    })
  }

  /**
   * Starts a transition at once, in a fiber that cannot be interrupted, and waits for it. After a failure the placement
   * is what it was before.
   */
  private transition(
    entry: Entry,
    to: "Stored" | "Loaded",
    run: Effect.Effect<void, ConversationUnavailable>,
  ): Effect.Effect<void, ConversationUnavailable> {
    const before = entry.placement
    const done = Deferred.makeUnsafe<void, ConversationUnavailable>()
    entry.placement = { _tag: "Transition", to, done }
    this.inTransition.add(entry)
    return run.pipe(
      Effect.onExit((exit) => {
        const { placement } = entry
        if (placement._tag === "Transition" && placement.done === done) entry.placement = before
        this.inTransition.delete(entry)
        return Deferred.done(done, exit)
      }),
      Effect.forkIn(this.transitions, { startImmediately: true, uninterruptible: true }),
      Effect.andThen(Effect.interruptible(Deferred.await(done))),
    )
  }

  private startConversation(
    entry: Entry,
    { existing, repairs, settings, unrecorded, writer }: LogSource,
    lease: Scope.Closeable,
  ): Effect.Effect<LoadedConversation, ConversationUnavailable> {
    const { maxListeners, observer, onTurnCompleted } = this.options
    const status = { ended: false }
    const onClose = () => {
      status.ended = true
      const { placement } = entry
      return placement._tag === "Loaded" && placement.loaded.status === status
        ? this.onEnded(entry, placement.loaded)
        : Effect.void
    }
    const log = new RevocableLog(entry.id, writer)
    return start(entry.id, this.settings.share(settings), {
      onClose,
      permits: this.permits.of(entry.owner),
      appends: this.appends,
      maxListeners,
      existing,
      repairs,
      writer: log,
      ...defined({ observer, onTurnCompleted, unrecorded }),
    }).pipe(
      Effect.updateContext((_: Context.Context<never>) => this.services),
      Effect.map(({ conversation, fiber }) => ({ conversation, fiber, lease, log, status })),
    )
  }

  /** The fiber ended by itself, by a shutdown op or because it could not record: the next use loads the log again. */
  private onEnded(entry: Entry, loaded: LoadedConversation): Effect.Effect<void> {
    return Effect.asVoid(hasSucceeded(this.transition(entry, "Stored", this.store(entry, loaded))))
  }

  /** The conversation is in memory now, in the room that was reserved for it. */
  private place(entry: Entry, loaded: LoadedConversation): Effect.Effect<void> {
    return Effect.suspend(() => {
      entry.placement = { _tag: "Loaded", loaded }
      this.byUse.add(entry)
      this.someLoaded.openUnsafe()
      notifyMoved(entry)
      return loaded.status.ended ? this.store(entry, loaded) : Effect.void
    })
  }

  /** The conversation is only in the store now. */
  private store(entry: Entry, loaded: LoadedConversation): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      entry.settings = this.settings.share((yield* loaded.conversation.state).settings)
      yield* closeLease(loaded.lease)
      entry.placement = stored
      if (this.byUse.delete(entry)) this.reserved--
    })
  }

  /** Reserves room for one conversation, evicting the least recently used idle one if needed. */
  private reserve(): Effect.Effect<void, TooManyConversations> {
    return Effect.suspend(() => {
      if (this.reserved >= this.options.maxLoaded) {
        return this.evictionLock.withPermit(this.evictForRoom())
      }
      this.reserved++
      return Effect.void
    })
  }

  private evictForRoom(): Effect.Effect<void, TooManyConversations> {
    return Effect.gen({ self: this }, function* () {
      const { maxLoaded } = this.options
      // Conversations that are used meanwhile move to the end of the set: each is looked at once.
      let left = this.byUse.size
      for (const entry of this.byUse) {
        if (left-- === 0) break
        yield* hasSucceeded(this.evict(entry))
        if (this.reserved < maxLoaded) {
          this.reserved++
          return
        }
      }
      return yield* new TooManyConversations({ limit: "loaded", maxConversations: maxLoaded })
    })
  }
}
