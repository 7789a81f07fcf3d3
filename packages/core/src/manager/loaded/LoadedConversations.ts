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
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { defined } from "@colloquy/protocol/Defined"
import type { OwnedConversation } from "../../Conversation.ts"
import type { ConversationUnavailable, TooManyConversations } from "../../ConversationErrors.ts"
import type { ModelClient } from "../../ModelClient.ts"
import type { ToolRuntime } from "../../ToolRuntime.ts"
import {
  absent,
  type Entry,
  type LoadedConversation,
  notifyMoved,
  type SettledPlacement,
  stored,
} from "../Entry.ts"
import { type LogSource, type Storage, unavailable } from "../Storage.ts"
import { ConversationStarter, type StarterOptions } from "./ConversationStarter.ts"
import { hasSucceeded } from "./HasSucceeded.ts"
import { closeLease } from "./Lease.ts"
import { Room } from "./Room.ts"
import { Transitions } from "./Transitions.ts"

/** Limits of the conversations in memory, and where their logs are. */
export interface LoadedConversationsOptions extends StarterOptions {
  readonly maxLoaded: number
  /** An unused conversation without turn and listener is evicted after this time. */
  readonly idleTimeToLive: Duration.Duration
  readonly storage: Storage
}

/** The conversations in memory. One per manager. */
export class LoadedConversations {
  private readonly options: LoadedConversationsOptions
  private readonly starter: ConversationStarter
  private readonly transitions: Transitions
  private readonly room: Room
  /** True once no transition may start any more. */
  private isHalted = false

  private constructor(
    options: LoadedConversationsOptions,
    services: Context.Context<ModelClient | ToolRuntime>,
    transitions: Transitions,
  ) {
    this.options = options
    this.starter = new ConversationStarter(options, services)
    this.transitions = transitions
    this.room = new Room(options.maxLoaded, (entry) => hasSucceeded(this.evict(entry)))
  }

  /** With nothing in memory. The services of the context are those of every conversation. */
  static readonly make = (
    options: LoadedConversationsOptions,
  ): Effect.Effect<LoadedConversations, never, ModelClient | ToolRuntime> =>
    Effect.gen(function* () {
      const services = yield* Effect.context<ModelClient | ToolRuntime>()
      return new LoadedConversations(options, services, yield* Transitions.make)
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
      this.room.reserve(),
      Effect.gen({ self: this }, function* () {
        const lease = yield* Scope.make()
        const loaded = yield* Effect.flatMap(openLog(lease), (source) =>
          this.starter.start(entry, source, lease, this.onEnded),
        ).pipe(Effect.onError(() => closeLease(lease)))
        yield* this.place(entry, loaded)
        yield* this.touch(entry)
      }).pipe(Effect.onError(() => Effect.sync(() => this.room.cancel()))),
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
        this.room.touchAt(entry, clock.currentTimeMillisUnsafe())
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
    return this.room.touch(entry)
  }

  /** Resolves with the placement of the conversation, after a transition that runs. Loads nothing. */
  settled(entry: Entry): Effect.Effect<SettledPlacement> {
    return this.transitions.settled(entry)
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
      this.room.delete(entry)
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
      return hasSucceeded(this.transitions.start(entry, "Stored", given))
    }).pipe(Effect.uninterruptible)
  }

  /** Evicts every conversation when its idle time is over. Never ends. */
  get sweep(): Effect.Effect<never> {
    return this.room.sweep(Duration.toMillis(this.options.idleTimeToLive))
  }

  /** The conversations in memory, the least recently used first. */
  get all(): Iterable<Entry> {
    return this.room.all
  }

  /** From now on no transition starts. Those that run continue. */
  halt(): void {
    this.isHalted = true
  }

  /** Resolves when the transitions that run have ended, and the fibers of evicted conversations with them. */
  get close(): Effect.Effect<void> {
    return Effect.andThen(this.transitions.close, this.starter.close)
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
            ? Effect.fail(absent(entry, this.isHalted))
            : Effect.andThen(
                this.transitions.start(entry, "Loaded", this.load(entry)),
                this.loaded(entry),
              )
        case "Removed":
          return placement.loaded === undefined
            ? Effect.fail(absent(entry, this.isHalted))
            : Effect.succeed(placement.loaded.conversation)
      }
    })
  }

  private load(entry: Entry): Effect.Effect<void, ConversationUnavailable> {
    return this.start(entry, (lease) => this.options.storage.load(entry, lease)).pipe(
      Effect.catchTag("TooManyConversations", (error) => Effect.fail(unavailable(entry, error))),
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
      return this.transitions.start(entry, "Stored", this.suspendAndStore(entry, placement.loaded))
    }).pipe(Effect.uninterruptible)
  }

  private suspendAndStore(entry: Entry, loaded: LoadedConversation): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      if (!(yield* loaded.conversation.suspend)) return yield* this.place(entry, loaded)
      yield* this.transitions.awaitFiber(loaded)
      yield* this.store(entry, loaded)
      this.options.observer?.evicted()
    })
  }

  /**
   * The fiber ended by itself, by a shutdown op or because it could not record: the next use loads the log again. One
   * function for all conversations: one made where a conversation is started would keep alive what it was started with.
   */
  private readonly onEnded = (entry: Entry, loaded: LoadedConversation): Effect.Effect<void> =>
    Effect.asVoid(hasSucceeded(this.transitions.start(entry, "Stored", this.store(entry, loaded))))

  /** The conversation is in memory now, in the room that was reserved for it. */
  private place(entry: Entry, loaded: LoadedConversation): Effect.Effect<void> {
    return Effect.suspend(() => {
      entry.placement = { _tag: "Loaded", loaded }
      this.room.add(entry)
      notifyMoved(entry)
      return loaded.status.end !== undefined ? this.store(entry, loaded) : Effect.void
    })
  }

  /** The conversation is only in the store now. */
  private store(entry: Entry, loaded: LoadedConversation): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      entry.settings = this.starter.settings.share((yield* loaded.conversation.state).settings)
      yield* closeLease(loaded.lease)
      entry.placement = stored
      this.room.delete(entry)
    })
  }
}
