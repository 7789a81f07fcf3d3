/**
 * Streams that wait for their readers each by itself. The client of Effect reads nothing more from a connection while a part of
 * a stream waits for room, and all calls between two nodes have one connection: a client of one node that reads nothing would
 * hold up every call to the other one.
 */
import * as Effect from "effect/Effect"
import type * as RpcClient from "effect/rpc/RpcClient"
import * as Scope from "effect/Scope"

/**
 * The protocol, which hands the parts of a stream over without waiting for its reader. They stay in order: the other side sends
 * the next one when the last one was confirmed, which is when it has found room.
 */
export const withSeparateStreams = Effect.fnUntraced(function* (
  protocol: RpcClient.Protocol["Service"],
): Effect.fn.Return<RpcClient.Protocol["Service"], never, Scope.Scope> {
  const scope = yield* Effect.scope
  return {
    ...protocol,
    run: (clientId, receive) =>
      protocol.run(clientId, (message) =>
        message._tag === "Chunk"
          ? Effect.asVoid(Effect.forkIn(receive(message), scope, { startImmediately: true }))
          : receive(message),
      ),
  }
})
