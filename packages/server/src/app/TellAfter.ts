/** What a request causes to be told, behind its answer (L2). */
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type { PeerControl } from "../Peer.ts"
import type { AppCall } from "./AppCall.ts"

/** Who is gone need not be told. */
export const tell = <M extends Rpc.Any>(
  peer: PeerControl,
  method: M,
  params: Params<M>,
): Effect.Effect<void> =>
  Effect.catch(peer.notify(method, [params]), ({ reason }) =>
    Effect.logDebug(`a notification was dropped: ${reason}`),
  )

/** The name under which the ends of logins are held back. */
export const logins = "logins"

/** What becomes of a login because of this request is told behind its answer, and then what is given to the result. */
export const answerFirst = ({
  afterAnswer,
  connection,
}: AppCall): ((told: Effect.Effect<void>) => void) => {
  const release = connection.holds.hold(logins)
  afterAnswer(Effect.sync(release), release)
  return (told) => afterAnswer(Effect.andThen(Effect.sync(release), told), release)
}
