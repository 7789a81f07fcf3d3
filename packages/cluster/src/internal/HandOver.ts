/**
 * Gives up the conversations that this node has and does not own any more: at once those in which nothing runs or a turn
 * waits for the answer of a person, which the next owner continues; a turn that runs may first end, within a bound and
 * unless the next owner is asked to end it. An ephemeral conversation is never given up, because no other node can have it.
 */
import type { HeldConversations } from "@colloquy/core/HeldConversations"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/** How often the conversations are looked at: a fraction of the time in which an owner changes. */
const interval = Duration.millis(200)

/** What the hand-over needs of this node. */
export interface HandOverParts {
  readonly held: HeldConversations["Service"]
  readonly owns: (id: ConversationId) => boolean
  /** How long a running turn may last once another node owns its conversation. */
  readonly drainWithin: Duration.Duration
}

/** The conversations of one node that are to be given up. */
export class HandOver {
  private readonly parts: HandOverParts
  /** Since when each conversation of this node belongs to another one, in milliseconds since the epoch. */
  private readonly lostAtMs = new Map<ConversationId, number>()
  /** The fibers that give conversations up. */
  private readonly releasing = new Map<ConversationId, Fiber.Fiber<void>>()

  constructor(parts: HandOverParts) {
    this.parts = parts
  }

  /** True while this node has the conversation, which another one owns. */
  has(id: ConversationId): boolean {
    return this.lostAtMs.has(id) && !this.releasing.has(id)
  }

  /**
   * Gives up at once a conversation that another node owns, although its turn may run: that node has to carry out an
   * operation which ends the turn. Does nothing for any other conversation.
   */
  giveUp(id: ConversationId): Effect.Effect<void> {
    return Effect.suspend(() => (this.has(id) ? this.release(id) : Effect.void))
  }

  /** Never ends. */
  get sweep(): Effect.Effect<never> {
    return Effect.forever(Effect.andThen(this.step, Effect.sleep(interval)))
  }

  /**
   * For a node that leaves. Resolves when it has no conversation of another one, and no turn runs in an ephemeral one; that is
   * soon after the bound at the latest.
   */
  get drained(): Effect.Effect<void> {
    return Effect.flatMap(Clock.currentTimeMillis, (sinceMs) => this.drainedSince(sinceMs))
  }

  private drainedSince(sinceMs: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const running = (yield* this.step) + (yield* this.runningEphemeral(sinceMs))
      yield* Effect.forEach([...this.releasing.values()], Fiber.await, { discard: true })
      if (running === 0) return
      yield* Effect.sleep(interval)
      yield* this.drainedSince(sinceMs)
    })
  }

  /** Number of the ephemeral conversations whose turns may still run, on a node that leaves since this time. */
  private runningEphemeral(sinceMs: number): Effect.Effect<number> {
    return Effect.gen({ self: this }, function* () {
      const nowMs = yield* Clock.currentTimeMillis
      if (!this.mayRun(sinceMs, nowMs)) return 0
      const held = yield* this.parts.held.held
      return held.filter(({ activity, isEphemeral }) => isEphemeral && activity === "running")
        .length
    })
  }

  private mayRun(sinceMs: number, nowMs: number): boolean {
    return nowMs - sinceMs < Duration.toMillis(this.parts.drainWithin)
  }

  /** Begins to give up what is to be given up. Resolves with the number of the others, whose turns may still run. */
  get step(): Effect.Effect<number> {
    return Effect.gen({ self: this }, function* () {
      const { held, owns } = this.parts
      const nowMs = yield* Clock.currentTimeMillis
      const lost = (yield* held.held).filter(({ id, isEphemeral }) => !isEphemeral && !owns(id))
      const ids = new Set(lost.map(({ id }) => id))
      for (const id of this.lostAtMs.keys()) if (!ids.has(id)) this.lostAtMs.delete(id)
      let running = 0
      for (const { activity, id } of lost) {
        const sinceMs = this.lostAtMs.get(id) ?? nowMs
        this.lostAtMs.set(id, sinceMs)
        if (activity === "running" && this.mayRun(sinceMs, nowMs)) running++
        else yield* this.release(id)
      }
      return running
    })
  }

  /** Not in a scope: that of the manager is closing where the node shuts down. */
  private release(id: ConversationId): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.releasing.has(id)) return Effect.void
      const releasing = Effect.ensuring(
        this.parts.held.release(id),
        Effect.sync(() => {
          this.releasing.delete(id)
          // From now on the other node is asked: a call to this one would load the conversation again.
          this.lostAtMs.delete(id)
        }),
      )
      return Effect.map(Effect.forkDetach(releasing), (fiber) => {
        this.releasing.set(id, fiber)
      })
    })
  }
}
