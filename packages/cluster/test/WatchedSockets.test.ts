/** Connections to a node that accepts them and is silent. */
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as RpcClient from "effect/rpc/RpcClient"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as Socket from "effect/socket/Socket"
import * as TestClock from "effect/testing/TestClock"
import { ConversationRpcs } from "../src/ConversationOperations.ts"
import { batched } from "../src/node/BatchedWrites.ts"
import { watched } from "../src/node/WatchedSockets.ts"

const id = ConversationId.make("00000000-0000-7000-8000-000000000001")

const lost = new Socket.SocketError({
  reason: new Socket.SocketReadError({ cause: new Error("lost") }),
})

/** A socket whose connections are all accepted, and from which nothing comes but `frames`. */
const silent = (send: Effect.Effect<void>, frames: Effect.Effect<string> = Effect.never) => {
  let connections = 0
  let ended = Deferred.makeUnsafe<never, Socket.SocketError>()
  const write: Socket.Writer["write"] = (chunk) =>
    Socket.isCloseEvent(chunk) ? Effect.asVoid(Deferred.fail(ended, lost)) : send
  const socket = Socket.make({
    writer: Effect.succeed({ write, writeAll: () => send }),
    reader: Effect.sync(() => {
      connections += 1
      ended = Deferred.makeUnsafe()
      const pull = Effect.raceFirst(
        Deferred.await(ended),
        Effect.map(frames, (frame) => [frame] as const),
      )
      return { pull, upgrade: () => Effect.die("not encrypted") }
    }),
  })
  return { socket: batched(watched(socket, 4)), connections: () => connections }
}

/** The operations over this socket. */
const callsOver = (socket: Socket.Socket) =>
  Effect.flatMap(
    RpcClient.makeProtocolSocket({ pingInterval: "2 seconds", pingTimeout: "1 hour" }).pipe(
      Effect.provideService(Socket.Socket, socket),
      Effect.provide(RpcSerialization.layerNdjson),
    ),
    (protocol) =>
      Effect.provideService(RpcClient.make(ConversationRpcs), RpcClient.Protocol, protocol),
  )

describe("a connection to a silent node", () => {
  for (const [name, send] of [
    ["takes what is sent", Effect.void],
    ["takes nothing", Effect.never],
  ] as const) {
    it.effect(`L4 fails its calls and streams within five seconds, where the node ${name}`, () =>
      Effect.gen(function* () {
        const { connections, socket } = silent(send)
        const calls = yield* callsOver(socket)
        // A new connection to such a node is accepted as well.
        for (const connection of [1, 2, 3]) {
          const calling = yield* Effect.forkChild(Effect.flip(calls.Load({ id })))
          const reading = yield* Effect.forkChild(
            Effect.flip(Stream.runDrain(calls.Attach({ id }))),
          )
          yield* TestClock.adjust("5 seconds")
          assert.strictEqual((yield* Fiber.join(calling))._tag, "RpcClientError")
          assert.strictEqual((yield* Fiber.join(reading))._tag, "RpcClientError")
          assert.isAtLeast(connections(), connection)
          yield* TestClock.adjust("2 seconds")
        }
      }).pipe(Effect.scoped),
    )
  }

  it.effect("L6 lasts while something comes from the node", () =>
    Effect.gen(function* () {
      const frame = Effect.delay(Effect.succeed("\n"), "3 seconds")
      const { connections, socket } = silent(Effect.void, frame)
      const calls = yield* callsOver(socket)
      const calling = yield* Effect.forkChild(calls.Load({ id }))
      for (let second = 0; second < 30; second++) yield* TestClock.adjust("1 second")
      assert.isUndefined(calling.pollUnsafe())
      assert.strictEqual(connections(), 1)
    }).pipe(Effect.scoped),
  )
})
