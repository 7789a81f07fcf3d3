/**
 * Gives up the conversations that this node has and does not own any more: at once those in which nothing runs or a turn
 * waits for the answer of a person, which the next owner continues; a turn that runs may first end, within a bound.
 */
import type { HeldConversations } from "@colloquy/core/HeldConversations"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** How often the conversations are looked at: a fraction of the time in which an owner changes. */
const interval = Duration.millis(200)

/** What the hand-over needs of this node. */
export interface HandOverParts {
  readonly held: HeldConversations["Service"]
  readonly owns: (id: ConversationId) => boolean
  /** How long a running turn may last once another node owns its conversation. */
  readonly drainWithin: Duration.Duration
  /** Scope of the fibers that give conversations up. */
  readonly scope: Scope.Scope
}

/** The conversations of one node that are to be given up. */
export class HandOver {
  private readonly parts: HandOverParts
  /** Since when each conversation of this node belongs to another one, in milliseconds since the epoch. */
  private readonly lostAtMs = new Map<ConversationId, number>()
  private readonly releasing = new Set<ConversationId>()

  constructor(parts: HandOverParts) {
    this.parts = parts
  }

  /** True while this node has the conversation, which another one owns. */
  has(id: ConversationId): boolean {
    return this.lostAtMs.has(id) && !this.releasing.has(id)
  }

  /** Never ends. */
  get sweep(): Effect.Effect<never> {
    return Effect.forever(Effect.andThen(this.step, Effect.sleep(interval)))
  }

  /** Resolves when this node has no conversation of another one, or once the bound is over. */
  get drained(): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.flatMap(this.step, (left) =>
        left === 0 ? Effect.void : Effect.andThen(Effect.sleep(interval), this.drained),
      ),
    )
  }

  /** Gives up what is to be given up. Resolves with the number of conversations that are not given up yet. */
  private get step(): Effect.Effect<number> {
    return Effect.gen({ self: this }, function* () {
      const { drainWithin, held, owns, scope } = this.parts
      const nowMs = yield* Clock.currentTimeMillis
      const all = yield* held.held
      const lost = all.filter(({ id }) => !owns(id))
      const ids = new Set(lost.map(({ id }) => id))
      for (const id of this.lostAtMs.keys()) if (!ids.has(id)) this.lostAtMs.delete(id)
      for (const { activity, id } of lost) {
        const sinceMs = this.lostAtMs.get(id) ?? nowMs
        this.lostAtMs.set(id, sinceMs)
        const isDue = activity !== "running" || nowMs - sinceMs >= Duration.toMillis(drainWithin)
        if (!isDue || this.releasing.has(id)) continue
        this.releasing.add(id)
        const release = Effect.ensuring(
          held.release(id),
          Effect.sync(() => this.releasing.delete(id)),
        )
        yield* Effect.forkIn(release, scope, { startImmediately: true })
      }
      return lost.length
    })
  }
}
