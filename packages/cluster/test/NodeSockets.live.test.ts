/** The sockets between nodes: calls and streams that share one connection. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import { RpcClientProtocol } from "effect/cluster/Runners"
import * as Rpc from "effect/rpc/Rpc"
import * as RpcClient from "effect/rpc/RpcClient"
import * as RpcGroup from "effect/rpc/RpcGroup"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as RpcServer from "effect/rpc/RpcServer"
import { SocketServer } from "effect/socket/SocketServer"
import * as NodeSockets from "../src/node/NodeSockets.ts"

const group = RpcGroup.make(
  Rpc.make("Count", { success: Schema.Int, stream: true }),
  Rpc.make("Double", { payload: { n: Schema.Int }, success: Schema.Int }),
)

const handlers = group.toLayer({
  Count: () => Stream.range(1, 500).pipe(Stream.rechunk(1)),
  Double: ({ n }) => Effect.succeed(2 * n),
})

/** A client and a server with one connection. */
const connected = Effect.gen(function* () {
  const server = yield* NodeSockets.listen("127.0.0.1", 0)
  const serving = RpcServer.layer(group).pipe(
    Layer.provide([handlers, RpcServer.layerProtocolSocketServer]),
    Layer.provide(Layer.succeed(SocketServer, server)),
  )
  yield* Layer.build(serving)
  const port = server.address._tag === "UnixPathAddress" ? 0 : server.address.port
  const protocol = yield* (yield* RpcClientProtocol).make(RunnerAddress.make("127.0.0.1", port))
  return yield* Effect.provideService(RpcClient.make(group), RpcClient.Protocol, protocol)
})

const layer = Layer.provideMerge(NodeSockets.clientLayer, RpcSerialization.layerNdjson)

describe("a connection between nodes", () => {
  it.live(
    "L6 a stream from which its reader takes nothing holds up no call, and loses nothing",
    () =>
      Effect.gen(function* () {
        const client = yield* connected
        const pull = yield* Stream.toPull(client.Count())
        const taken = [...(yield* pull)]
        for (let n = 0; n < 100; n++) assert.strictEqual(yield* client.Double({ n }), 2 * n)
        while (taken.length < 500) taken.push(...(yield* pull))
        assert.deepStrictEqual(
          taken,
          Array.from({ length: 500 }, (_, n) => n + 1),
        )
      }).pipe(Effect.scoped, Effect.provide(layer)),
  )
})
