/**
 * What cancelling a tool call does after its response was sent: the turn that it submitted is interrupted, the stream that
 * it opened ends. Kept by the id of the request, of one connection. Does nothing about calls that are still being served:
 * those are interrupted by the peer (L14).
 */
import { isShort, type RequestId, requestIdKey } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { LruMap } from "../internal/LruMap.ts"

/**
 * Largest number of calls remembered; the oldest are forgotten. A client that cancels a call makes far fewer between the
 * call and its cancellation. Only short ids are remembered, so the memory is bounded.
 */
const maxRemembered = 1024

/** The answered calls of one connection. */
export interface AnsweredCalls {
  /** Sets what cancelling that call does. Replaced by a later call of the same id. */
  readonly onCancel: (id: RequestId, effect: Effect.Effect<void>) => void
  /** Forgets that call. With `effect`: only if this is what cancelling it does. */
  readonly forget: (id: RequestId, effect?: Effect.Effect<void>) => void
  /** Runs what was set for that call, once, in a fiber of the connection. Resolves at once; does nothing for other ids. */
  readonly cancel: (id: RequestId) => Effect.Effect<void>
}

/** @param scope that of the connection: its end waits for what `cancel` started */
export const make = (scope: Scope.Scope): AnsweredCalls => {
  const effects = new LruMap<string | number, Effect.Effect<void>>(maxRemembered)
  return {
    onCancel: (id, effect) => {
      if (isShort(id)) effects.put(requestIdKey(id), effect)
    },
    forget: (id, effect) => {
      const key = requestIdKey(id)
      if (effect === undefined || effects.get(key) === effect) effects.take(key)
    },
    cancel: (id) =>
      Effect.suspend(() => {
        const effect = effects.take(requestIdKey(id))
        // The connection's reader must not wait: a conversation that is not loaded has to be found in the store first.
        // Uninterruptible: nothing else would stop what the client cancelled.
        const alone = { startImmediately: true, uninterruptible: true }
        return effect === undefined
          ? Effect.void
          : Effect.asVoid(Effect.forkIn(effect, scope, alone))
      }),
  }
}
