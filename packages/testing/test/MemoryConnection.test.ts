import type { Connection, Frame } from "@colloquy/protocol/Connection"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { memoryPair } from "../src/MemoryConnection.ts"

const text = (line: string): Frame => ({ _tag: "Text", text: line })

const receiveAll = (connection: Connection) =>
  Effect.suspend(() => {
    const all: Array<Frame> = []
    return connection.receive.pipe(
      Effect.map((frames) => all.push(...frames)),
      Effect.forever,
      Effect.orElseSucceed(() => all),
    )
  })

const start = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.forkChild(effect, { startImmediately: true })

/** Enough turns of the scheduler for everything that can go on to have gone on. */
const settled = Effect.forEach(Array.from({ length: 10 }), () => Effect.yieldNow, { discard: true })

describe("memoryPair", () => {
  it.effect("carries texts in order, in both directions", () =>
    Effect.gen(function* () {
      const [client, server] = yield* memoryPair()
      yield* client.send(["a", "b"])
      yield* server.send(["1"])
      yield* client.send(["c"])
      assert.deepStrictEqual(
        [yield* server.receive, yield* client.receive],
        [[text("a"), text("b"), text("c")], [text("1")]],
      )
    }),
  )

  it.effect("carries injected frames in order with texts", () =>
    Effect.gen(function* () {
      const [client, server] = yield* memoryPair()
      const tooLong: Frame = { _tag: "TooLong", bytes: 9, maxBytes: 8 }
      const notUtf8: Frame = { _tag: "NotUtf8", bytes: 2 }
      yield* client.send(["a"])
      yield* client.inject(tooLong)
      yield* client.inject(notUtf8)
      yield* client.send(["b"])
      yield* client.close
      assert.deepStrictEqual(yield* receiveAll(server), [text("a"), tooLong, notUtf8, text("b")])
    }),
  )

  it.effect("L6 makes the sender wait when as many frames as the capacity are in flight", () =>
    Effect.gen(function* () {
      const [client, server] = yield* memoryPair(2)
      yield* client.send(["a", "b"])
      const waiting = yield* start(client.send(["c"]))
      yield* settled
      assert.isUndefined(waiting.pollUnsafe())
      const first = yield* server.receive
      yield* Fiber.join(waiting)
      assert.deepStrictEqual([first, yield* server.receive], [[text("a"), text("b")], [text("c")]])
    }),
  )

  it.effect(
    "close ends the input of the other end after what was sent, and only that direction",
    () =>
      Effect.gen(function* () {
        const [client, server] = yield* memoryPair()
        yield* client.send(["a"])
        yield* client.close
        assert.deepStrictEqual(yield* receiveAll(server), [text("a")])
        assert.strictEqual((yield* Effect.flip(client.send(["b"])))._tag, "ConnectionClosed")
        yield* server.send(["answer"])
        assert.deepStrictEqual(yield* client.receive, [text("answer")])
      }),
  )

  it.effect("close wakes a receiver that waits", () =>
    Effect.gen(function* () {
      const [client, server] = yield* memoryPair()
      const receiver = yield* start(Effect.flip(server.receive))
      yield* client.close
      assert.strictEqual((yield* Fiber.join(receiver))._tag, "Done")
    }),
  )

  it.effect("drop ends both directions and releases senders that wait for room", () =>
    Effect.gen(function* () {
      const [client, server] = yield* memoryPair(1)
      yield* client.send(["last"])
      yield* server.send(["a"])
      const waiting = yield* start(server.send(["b"]))
      const broken = yield* start(server.broken ?? Effect.never)
      yield* settled
      assert.isUndefined(broken.pollUnsafe())
      yield* client.drop
      yield* Fiber.join(broken)
      yield* Fiber.join(waiting)
      assert.strictEqual((yield* Effect.flip(server.send(["c"])))._tag, "ConnectionClosed")
      assert.strictEqual((yield* Effect.flip(client.send(["c"])))._tag, "ConnectionClosed")
      assert.deepStrictEqual(yield* receiveAll(server), [text("last")])
      assert.deepStrictEqual(yield* receiveAll(client), [])
    }),
  )

  it.effect("the end of the scope ends both ends and waiting callers", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const [client, server] = yield* Scope.provide(memoryPair(1), scope)
      const receiver = yield* start(receiveAll(client))
      yield* client.send(["a"])
      const sender = yield* start(client.send(["b"]))
      yield* settled
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* Fiber.join(receiver), [])
      yield* Fiber.join(sender)
      assert.deepStrictEqual(yield* receiveAll(server), [])
    }),
  )
})
