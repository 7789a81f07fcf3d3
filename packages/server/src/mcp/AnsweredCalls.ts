/**
 * Cancels tool calls of one connection after their response was sent: interrupts the turn that the call submitted, or
 * ends the stream that it opened. Keeps one effect per request id. Does nothing about calls that are still being
 * served: the peer interrupts those (L14).
 */
import { isShort, type RequestId, requestIdKey } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { LruMap } from "../internal/LruMap.ts"

/**
 * Largest number of calls remembered; the oldest are forgotten first. A client sends far fewer calls between a call and
 * its cancellation. Only short ids are remembered, so the memory is bounded.
 */
const maxRemembered = 1024

/** The answered calls of one connection. */
export interface AnsweredCalls {
  /** Sets the effect that cancels that call. A later call with the same id replaces it. */
  readonly onCancel: (id: RequestId, effect: Effect.Effect<void>) => void
  /** Forgets that call. With `effect`: only if that effect is the one that is set. */
  readonly forget: (id: RequestId, effect?: Effect.Effect<void>) => void
  /** Runs the effect of that call, once, in a fiber of the connection. Resolves at once; ignores unknown ids. */
  readonly cancel: (id: RequestId) => Effect.Effect<void>
}

/** @param scope scope of the connection; its end waits for the effects that `cancel` started */
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
        // Uninterruptible: nothing else would stop the work that the client cancelled.
        const alone = { startImmediately: true, uninterruptible: true }
        return effect === undefined
          ? Effect.void
          : Effect.asVoid(Effect.forkIn(effect, scope, alone))
      }),
  }
}
