/** What a request causes to be told, behind its answer (L2). */
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { AppCall } from "../AppCall.ts"

/** Who is gone need not be told. */
export const tell = <M extends Rpc.Any>(
  peer: PeerControl,
  method: M,
  params: Params<M>,
): Effect.Effect<void> =>
  Effect.catch(peer.notify(method, [params]), ({ reason }) =>
    Effect.logDebug(`a notification was dropped: ${reason}`),
  )

/** The name under which the notices of a connection are held back. */
export const notices = "notices"

/** What this connection is told beside conversations is told behind the answer to this request. */
export const answerFirst = ({ afterAnswer, connection }: AppCall): void => {
  const release = connection.holds.hold(notices)
  afterAnswer(Effect.sync(release), release)
}
