/**
 * The sockets between the nodes of a cluster. Each write is sent at once (`TCP_NODELAY`): a call consists of short messages
 * that follow each other, and without it the second one waits until the other machine has confirmed the first one, which
 * that delays by 40 milliseconds.
 */
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { RpcClientProtocol } from "effect/cluster/Runners"
import * as RpcClient from "effect/rpc/RpcClient"
import { RpcSerialization } from "effect/rpc/RpcSerialization"
import { Socket } from "effect/socket/Socket"
import type { SocketServer, SocketServerError } from "effect/socket/SocketServer"
import { batched } from "./BatchedWrites.ts"
import { withSeparateStreams } from "./SeparateStreams.ts"
import { watched } from "./WatchedSockets.ts"

/** As long as the cluster's own client waits for a connection. */
const openTimeoutMs = 1000

/**
 * A node that has vanished does not say so: its calls and streams fail when it was silent for some four seconds. One
 * connection is watched for all of them.
 */
const pingInterval = "2 seconds"
const silentLooks = 4

/** Longer than a connection lasts that is silent. */
const pingTimeout = "10 seconds"

/** Listens for the calls of other nodes until the scope closes. */
export const listen = (
  host: string,
  port: number,
): Effect.Effect<SocketServer["Service"], SocketServerError, Scope.Scope> =>
  Effect.map(NodeSocketServer.make({ host, port, noDelay: true }), ({ address, run }) => ({
    address,
    run: (handler) => run((socket) => handler(batched(socket))),
  }))

/** How a node calls another one: by a connection to its address. */
export const clientLayer: Layer.Layer<RpcClientProtocol, never, RpcSerialization> = Layer.effect(
  RpcClientProtocol,
  Effect.gen(function* () {
    const serialization = yield* RpcSerialization
    return {
      codecFor: serialization.codecFor,
      make: ({ host, port }) =>
        NodeSocket.makeNet({
          host,
          port,
          noDelay: true,
          openTimeout: openTimeoutMs,
        }).pipe(
          Effect.flatMap((socket) =>
            Effect.provideService(
              RpcClient.makeProtocolSocket({ pingInterval, pingTimeout }),
              Socket,
              batched(watched(socket, silentLooks)),
            ),
          ),
          Effect.flatMap(withSeparateStreams),
          Effect.provideService(RpcSerialization, serialization),
          Effect.orDie,
        ),
    }
  }),
)
