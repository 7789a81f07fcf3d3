/**
 * Gives up the conversations that this node has and does not own any more: at once those in which nothing runs or a turn
 * waits for the answer of a person, which the next owner continues; a turn that runs may first end, within a bound and
 * unless the next owner is asked to end it.
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

  /** Resolves when this node has no conversation of another one; that is so soon after the bound at the latest. */
  drained(): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.flatMap(this.step, (running) =>
        Effect.andThen(
          Effect.forEach([...this.releasing.values()], Fiber.await, { discard: true }),
          running === 0 ? Effect.void : Effect.andThen(Effect.sleep(interval), this.drained()),
        ),
      ),
    )
  }

  /** Begins to give up what is to be given up. Resolves with the number of the others, whose turns may still run. */
  get step(): Effect.Effect<number> {
    return Effect.gen({ self: this }, function* () {
      const { drainWithin, held, owns } = this.parts
      const nowMs = yield* Clock.currentTimeMillis
      const lost = (yield* held.held).filter(({ id }) => !owns(id))
      const ids = new Set(lost.map(({ id }) => id))
      for (const id of this.lostAtMs.keys()) if (!ids.has(id)) this.lostAtMs.delete(id)
      let running = 0
      for (const { activity, id } of lost) {
        const sinceMs = this.lostAtMs.get(id) ?? nowMs
        this.lostAtMs.set(id, sinceMs)
        const mayRun = nowMs - sinceMs < Duration.toMillis(drainWithin)
        if (activity === "running" && mayRun) running++
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
