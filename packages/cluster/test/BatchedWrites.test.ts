/** The writes of a socket between nodes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import * as Socket from "effect/socket/Socket"
import * as TestClock from "effect/testing/TestClock"
import { batched } from "../src/node/BatchedWrites.ts"

const socketOf = (
  send: (packet: ReadonlyArray<unknown>) => Effect.Effect<void, Socket.SocketError>,
) =>
  Socket.make({
    reader: Effect.never,
    writer: Effect.succeed({ write: (chunk) => send([chunk]), writeAll: send }),
  })

const lost = new Socket.SocketError({
  reason: new Socket.SocketWriteError({ cause: new Error("lost") }),
})

/** A socket that notes its packets, and has room while the latch is open. */
const noted = (room: Latch.Latch) => {
  const packets: Array<ReadonlyArray<unknown>> = []
  const send = (packet: ReadonlyArray<unknown>) =>
    room.whenOpen(Effect.sync(() => void packets.push(packet)))
  return { packets, socket: batched(socketOf(send)) }
}

describe("batched writes", () => {
  it.effect("are one packet for each round of the event loop", () =>
    Effect.gen(function* () {
      const { packets, socket } = noted(yield* Latch.make(true))
      const { write, writeAll } = yield* socket.writer
      yield* write("a")
      yield* writeAll(["b", "c"])
      assert.deepStrictEqual(packets, [])
      yield* Effect.yieldNow
      yield* write("d")
      yield* Effect.yieldNow
      assert.deepStrictEqual(packets, [["a", "b", "c"], ["d"]])
    }).pipe(Effect.scoped),
  )

  it.effect("wait while there is no room, and keep their order", () =>
    Effect.gen(function* () {
      const room = yield* Latch.make(false)
      const { packets, socket } = noted(room)
      const { write } = yield* socket.writer
      yield* write("a")
      yield* Effect.yieldNow
      const writing = yield* Effect.forkChild(write("b"), { startImmediately: true })
      yield* Effect.yieldNow
      assert.isUndefined(writing.pollUnsafe())
      yield* room.open
      yield* Fiber.join(writing)
      yield* Effect.yieldNow
      assert.deepStrictEqual(packets, [["a"], ["b"]])
    }).pipe(Effect.scoped),
  )

  it.effect("are sent before the socket is closed", () =>
    Effect.gen(function* () {
      const { packets, socket } = noted(yield* Latch.make(true))
      const scope = yield* Scope.make()
      const { write } = yield* Scope.provide(socket.writer, scope)
      yield* write("a")
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
      assert.deepStrictEqual(packets, [["a"]])
    }),
  )

  it.effect("do not keep a socket from being closed whose other side takes nothing", () =>
    Effect.gen(function* () {
      const { packets, socket } = noted(yield* Latch.make(false))
      const scope = yield* Scope.make()
      const { write } = yield* Scope.provide(socket.writer, scope)
      yield* write("a")
      const closing = yield* Effect.forkChild(Scope.close(scope, yield* Effect.exit(Effect.void)), {
        startImmediately: true,
      })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
      assert.deepStrictEqual(packets, [])
    }),
  )

  for (const [name, send, why] of [
    ["cannot be sent", Effect.fail(lost), /SocketError/],
    ["is not taken within a second", Effect.never, /TimeoutError/],
  ] as const) {
    it.effect(`a last packet that ${name} is logged at Debug, and the socket is closed`, () =>
      Effect.gen(function* () {
        const logged: Array<string> = []
        const logger = Logger.make(({ logLevel, message }) => {
          logged.push(`${logLevel} ${[message].flat().map(String).join(" ")}`)
        })
        const scope = yield* Scope.make()
        const { write } = yield* Scope.provide(batched(socketOf(() => send)).writer, scope)
        yield* write("a")
        const closing = yield* Effect.forkChild(
          Scope.close(scope, Exit.void).pipe(
            Effect.provide(Logger.layer([logger])),
            Effect.provideService(References.MinimumLogLevel, "Debug"),
          ),
          { startImmediately: true },
        )
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(closing)
        assert.lengthOf(logged, 1)
        assert.match(logged[0] ?? "", /^Debug the last packet of a connection between nodes/)
        assert.match(logged[0] ?? "", why)
      }),
    )
  }

  it.effect("that wait for room end with the socket, also those that cannot be interrupted", () =>
    Effect.gen(function* () {
      const { packets, socket } = noted(yield* Latch.make(false))
      const scope = yield* Scope.make()
      const { write } = yield* Scope.provide(socket.writer, scope)
      yield* write("a")
      yield* Effect.yieldNow
      const waiting = yield* Effect.forkDetach(Effect.uninterruptible(write("b")), {
        startImmediately: true,
      })
      yield* Scope.close(scope, Exit.void)
      yield* Effect.yieldNow
      assert.match(String(waiting.pollUnsafe()), /SocketError/)
      assert.deepStrictEqual(packets, [])
    }),
  )

  it.effect("fail while the socket is being closed", () =>
    Effect.gen(function* () {
      const { packets, socket } = noted(yield* Latch.make(false))
      const scope = yield* Scope.make()
      const { write } = yield* Scope.provide(socket.writer, scope)
      yield* write("a")
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), {
        startImmediately: true,
      })
      const error = yield* Effect.flip(write("b"))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
      assert.strictEqual(error._tag, "SocketError")
      assert.deepStrictEqual(packets, [])
    }),
  )

  it.effect("precede the end that is written behind them", () =>
    Effect.gen(function* () {
      const { packets, socket } = noted(yield* Latch.make(true))
      const { write } = yield* socket.writer
      const end = new Socket.CloseEvent(1009, "too long")
      yield* write("a")
      yield* write(end)
      assert.deepStrictEqual(packets, [["a"], [end]])
    }).pipe(Effect.scoped),
  )
})
