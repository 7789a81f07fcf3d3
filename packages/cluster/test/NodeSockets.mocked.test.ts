/** The options of the sockets between nodes, which the sockets themselves do not show. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import { RpcClientProtocol } from "effect/cluster/Runners"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import { vi } from "vitest"
import * as NodeSockets from "../src/node/NodeSockets.ts"

const { opened } = vi.hoisted(() => ({
  opened: [] as Array<readonly [string, { readonly noDelay?: boolean }]>,
}))

vi.mock("@effect/platform-node/NodeSocket", () => ({
  makeNet: (options: { readonly noDelay?: boolean }) =>
    Effect.suspend(() => {
      opened.push(["calls", options])
      return Effect.interrupt
    }),
}))

vi.mock("@effect/platform-node/NodeSocketServer", () => ({
  make: (options: { readonly noDelay?: boolean }) =>
    Effect.suspend(() => {
      opened.push(["listens", options])
      return Effect.interrupt
    }),
}))

describe("the sockets between nodes", () => {
  it.effect("send each message at once, in both directions", () =>
    Effect.gen(function* () {
      const { make } = yield* RpcClientProtocol
      const address = RunnerAddress.make("127.0.0.1", 1)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(make(address))))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(NodeSockets.listen("127.0.0.1", 1))))
      assert.deepStrictEqual(
        opened.map(([what, { noDelay }]) => [what, noDelay]),
        [
          ["calls", true],
          ["listens", true],
        ],
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.provideMerge(NodeSockets.clientLayer, RpcSerialization.layerNdjson)),
    ),
  )
})
