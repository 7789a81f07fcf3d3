/**
 * Offers what callbacks bring to the bounded queue of a chat. A callback cannot wait for room in the queue, so a fiber does:
 * at most one per kind of input. What a second one of that kind means is decided by its caller.
 */
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

/**
 * Inputs that wait for a chat. What the chat has not handled holds up who offers: the conversation, stdin, the clock. Only
 * lines of the log are left out, and counted.
 */
export const maxInputs = 64

/** See the header. */
export interface CallbackOffers<A> {
  /** Offers the input, which is left out while one with the same tag waits for room. */
  readonly offer: (input: A) => void
  /** Runs an effect that offers, unless one with this name runs already. */
  readonly run: (name: string, offers: Effect.Effect<void>) => void
}

/** Offers that wait end with the scope. */
export const make = <A extends { readonly _tag: string }>(
  queue: Queue.Enqueue<A>,
): Effect.Effect<CallbackOffers<A>, never, Scope.Scope> =>
  Effect.map(FiberMap.makeRuntime<never, string, never, void>(), (start) => {
    const run = (name: string, offers: Effect.Effect<void>) =>
      void start(name, offers, { onlyIfMissing: true })
    return { run, offer: (input) => run(input._tag, Effect.asVoid(Queue.offer(queue, input))) }
  })
