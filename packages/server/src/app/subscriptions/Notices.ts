/**
 * What one connection is told that belongs to no conversation: in order, behind the answers that it has to wait for (L2).
 * Whoever has something to tell never waits; of a state only the latest is kept for a client that does not read (L6).
 */
import type { Params } from "@colloquy/protocol/Method"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Rpc from "effect/rpc/Rpc"
import type { PeerControl } from "../../jsonrpc/Caller.ts"

export interface Notices {
  /** Tells what is put, now and from now on, until interrupted or until the connection is gone. */
  readonly tell: (peer: PeerControl) => Effect.Effect<void>
  /** `latest`: takes the place of what waits of that method. What is put when nobody tells any more is dropped. */
  readonly put: <M extends Rpc.Any>(method: M, params: Params<M>, kind: "each" | "latest") => void
}

interface Notice {
  readonly method: Rpc.Any
  readonly send: (peer: PeerControl) => Effect.Effect<void, ConnectionClosed>
}

/** @param gate waits while something has to be told first */
export const make = (gate: Effect.Effect<void>): Notices => {
  const woken = Latch.makeUnsafe(false)
  let waiting: Array<Notice> = []
  let over = false

  const next = Effect.suspend(() => {
    const taken = waiting
    waiting = []
    woken.closeUnsafe()
    return Effect.succeed(taken)
  })

  return {
    put: (method, params, kind) => {
      if (over) return
      if (kind === "latest") waiting = waiting.filter((one) => one.method !== method)
      waiting.push({ method, send: (peer) => peer.notify(method, [params]) })
      woken.openUnsafe()
    },
    tell: (peer) =>
      woken.await.pipe(
        Effect.andThen(gate),
        Effect.andThen(next),
        Effect.flatMap((taken) =>
          Effect.forEach(taken, ({ send }) => send(peer), { discard: true }),
        ),
        Effect.forever,
        Effect.catch(({ reason }) => Effect.logDebug(`notices end: ${reason}`)),
        Effect.ensuring(
          Effect.sync(() => {
            over = true
            waiting = []
          }),
        ),
      ),
  }
}
