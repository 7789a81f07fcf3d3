/**
 * One listener of a connection: up to which event its client was sent the events, and the waits for that. Sends nothing.
 *
 *     added ── start ──► started ── conversation unavailable ──► suspended
 *       │                   │  ▲──── conversation used again ──────┘ │
 *       │                   └── conversation ended, or removed ──────┤
 *       └── abandoned ──────────────────────────────────────────► ended
 */
import type { Conversation } from "@colloquy/core/Conversation"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

interface Waiter {
  readonly seq: number
  readonly done: Deferred.Deferred<void>
}

/** See the header. */
export class Subscription {
  /** A UUID, which the client uses to remove the listener. */
  readonly id: string
  readonly conversation: Conversation
  /** Holds what the listener has acquired; closes with it. */
  readonly scope: Scope.Closeable
  /** Number of the first event that was not sent yet. */
  next: number
  /** Events are sent from now on: the response that names the subscription was accepted. */
  started = false
  /** Nothing follows any more. */
  private ended = false
  /** Nothing follows until the conversation is used again: its events could not be recorded. */
  private suspended = false
  private waiters: Array<Waiter> = []

  /** @param next number of the first event to send */
  constructor(id: string, conversation: Conversation, scope: Scope.Closeable, next: number) {
    this.id = id
    this.conversation = conversation
    this.scope = scope
    this.next = next
  }

  private get isActive(): boolean {
    return !this.ended && !this.suspended
  }

  private isReady({ seq }: Waiter): boolean {
    return seq < this.next || !this.isActive
  }

  private release(): void {
    const ready = this.waiters.filter((waiter) => this.isReady(waiter))
    this.waiters = this.waiters.filter((waiter) => !this.isReady(waiter))
    for (const { done } of ready) Deferred.doneUnsafe(done, Effect.void)
  }

  /** Every event before `next` was sent. */
  advance(next: number): void {
    this.next = Math.max(this.next, next)
    this.release()
  }

  /** Nothing follows any more; whatever waits for it continues. */
  end(): void {
    this.ended = true
    this.release()
  }

  /** Nothing follows until `resume`; whatever waits for it continues. */
  suspend(): void {
    this.suspended = true
    this.release()
  }

  /** Events follow again, from `next` on. */
  resume(): void {
    this.suspended = false
  }

  /** Waits until that event was sent, or nothing follows any more. */
  delivered(seq: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.next > seq || !this.isActive) return Effect.void
      const done = Deferred.makeUnsafe<void>()
      this.waiters.push({ seq, done })
      return Deferred.await(done)
    })
  }

  /**
   * Waits until no turn of the conversation runs or is about to and everything was sent, or nothing follows any more. A
   * turn that has waited for answers since a restart counts as not running.
   */
  readonly idle: Effect.Effect<void> = Effect.suspend(() => {
    if (!this.isActive) return Effect.void
    return Effect.matchEffect(this.conversation.state, {
      onSuccess: ({ seq, turn, waiting }) => {
        const isIdle = turn === undefined ? waiting.length === 0 : turn.parked !== undefined
        return isIdle ? this.delivered(seq - 1) : Effect.andThen(this.delivered(seq), this.idle)
      },
      // A conversation without a state has no events to wait for.
      onFailure: () => Effect.void,
    })
  })
}
