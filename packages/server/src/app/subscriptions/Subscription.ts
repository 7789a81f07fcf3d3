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
  /** First event that it was not sent. */
  next: number
  /** Nothing follows any more. */
  over: boolean
  /** Nothing follows until its conversation is used again: nothing of it could be recorded. */
  lost: boolean
  begun: boolean
  waiters: Array<Waiter>
}

const follows = ({ lost, over: isOver }: Subscription): boolean => !lost && !isOver

const release = (subscription: Subscription): void => {
  const isReady = ({ seq }: Waiter) => seq < subscription.next || !follows(subscription)
  const ready = subscription.waiters.filter(isReady)
  subscription.waiters = subscription.waiters.filter((waiter) => !isReady(waiter))
  for (const { done } of ready) Deferred.doneUnsafe(done, Effect.void)
}

export const advance = (subscription: Subscription, next: number): void => {
  subscription.next = Math.max(subscription.next, next)
  release(subscription)
}

/** Nothing follows any more: nobody waits for it. */
export const over = (subscription: Subscription): void => {
  subscription.over = true
  release(subscription)
}

/** Nothing follows until its conversation is used again: nobody waits for that. */
export const lose = (subscription: Subscription): void => {
  subscription.lost = true
  release(subscription)
}

/** Waits until it was told of that event, or has ended. */
export const told = (subscription: Subscription, seq: number): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (subscription.next > seq || !follows(subscription)) return Effect.void
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
    const { conversation } = subscription
    if (!follows(subscription)) return Effect.void
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
