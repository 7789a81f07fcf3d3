/**
 * The notifications of one connection that belong to no conversation: sent in order, each after the responses that it has
 * to follow (L2). Adding one never waits. A client that does not read gets only the latest of each kind of state (L6).
 */
import type { Params } from "@colloquy/protocol/Method"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Rpc from "effect/rpc/Rpc"
import type { PeerControl } from "../../jsonrpc/Caller.ts"

/** The key of `AnswerGate` under which a request holds the notices of its connection. */
export const noticesKey = "notices"

/** See the header. */
export interface ConnectionNotices {
  /** Sends the notifications that were added, before and after this call, until it is interrupted or the connection closes. Call it once. */
  readonly deliver: (peer: PeerControl) => Effect.Effect<void>
  /**
   * Adds a notification. `latest`: replaces one of the same method that was not sent yet. Dropped after `deliver` has
   * ended.
   */
  readonly put: <M extends Rpc.Any>(method: M, params: Params<M>, kind: "each" | "latest") => void
}

interface Notice {
  readonly method: Rpc.Any
  readonly send: (peer: PeerControl) => Effect.Effect<void, ConnectionClosed>
}

/** Makes an empty queue. */
export const make = (): ConnectionNotices => {
  const added = Latch.makeUnsafe(false)
  let waiting: Array<Notice> = []
  let ended = false

  const take = Effect.sync(() => {
    const taken = waiting
    waiting = []
    added.closeUnsafe()
    return taken
  })

  return {
    put: (method, params, kind) => {
      if (ended) return
      if (kind === "latest") waiting = waiting.filter((one) => one.method !== method)
      waiting.push({ method, send: (peer) => peer.notify(method, [params]) })
      added.openUnsafe()
    },
    deliver: (peer) =>
      added.await.pipe(
        Effect.andThen(peer.passed(noticesKey)),
        Effect.andThen(take),
        Effect.flatMap((taken) =>
          Effect.forEach(taken, ({ send }) => send(peer), { discard: true }),
        ),
        Effect.forever,
        Effect.catch(({ reason }) => Effect.logDebug(`notices end: ${reason}`)),
        Effect.ensuring(
          Effect.sync(() => {
            ended = true
            waiting = []
          }),
        ),
      ),
  }
}
