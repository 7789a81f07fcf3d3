/** One listener of a connection: how far it has been told, and who waits for that. Tells nothing itself. */
import type { Conversation } from "@colloquy/core/Conversation"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

interface Waiter {
  readonly seq: number
  readonly done: Deferred.Deferred<void>
}

export interface Subscription {
  readonly id: string
  readonly conversation: Conversation
  readonly scope: Scope.Closeable
  /** First event that it was not told of; infinite when it has ended. */
  next: number
  begun: boolean
  waiters: Array<Waiter>
}

export const advance = (subscription: Subscription, next: number): void => {
  subscription.next = Math.max(subscription.next, next)
  const [ready, rest] = [
    subscription.waiters.filter(({ seq }) => seq < subscription.next),
    subscription.waiters.filter(({ seq }) => seq >= subscription.next),
  ]
  subscription.waiters = rest
  for (const { done } of ready) Deferred.doneUnsafe(done, Effect.void)
}

/** Waits until it was told of that event, or has ended. */
export const told = (subscription: Subscription, seq: number): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (subscription.next > seq) return Effect.void
    const done = Deferred.makeUnsafe<void>()
    subscription.waiters.push({ seq, done })
    return Deferred.await(done)
  })

/**
 * Waits until no turn of its conversation runs or is about to, and it was told of everything, or has ended. A turn that
 * has waited for its answers since a restart does not run.
 */
export const settled = (subscription: Subscription): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { conversation, next } = subscription
    if (next === Number.POSITIVE_INFINITY) return Effect.void
    return Effect.matchEffect(conversation.state, {
      onSuccess: ({ seq, turn, waiting }) => {
        const idle = turn === undefined ? waiting.length === 0 : turn.parked !== undefined
        return idle
          ? told(subscription, seq - 1)
          : Effect.andThen(told(subscription, seq), settled(subscription))
      },
      // Whoever cannot say what runs has nothing to tell.
      onFailure: () => Effect.void,
    })
  })
