import type { Connection, Frame } from "@colloquy/protocol/Connection"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { streamPair } from "./support/StreamPair.ts"

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

/** Between two runs of the scheduler the streams do everything that they can do. */
const settled = Effect.forEach(Array.from({ length: 10 }), () => Effect.yieldNow, { discard: true })

describe("streamPair", () => {
  it.effect("transfers texts in order, in both directions, however they are divided", () =>
    Effect.gen(function* () {
      const [client, server] = yield* streamPair()
      yield* client.send(["a", "ä"])
      yield* server.send(["é".repeat(333)])
      yield* client.send(["c"])
      yield* settled
      assert.deepStrictEqual(
        [yield* server.receive, yield* client.receive],
        [[text("a"), text("ä"), text("c")], [text("é".repeat(333))]],
      )
    }),
  )

  it.effect("an injected frame is received as such, in order with texts", () =>
    Effect.gen(function* () {
      const [client, server] = yield* streamPair(1)
      const bytes = 16 * 1024 * 1024 + 1
      const frames: ReadonlyArray<Frame> = [
        { _tag: "NotUtf8", bytes: 2 },
        { _tag: "TooLong", bytes, maxBytes: bytes - 1 },
        text("b"),
      ]
      const all = yield* start(receiveAll(server))
      yield* client.send(["a"])
      yield* Effect.forEach(frames, client.inject)
      yield* client.send(["c"])
      yield* client.close
      assert.deepStrictEqual(yield* Fiber.join(all), [text("a"), ...frames, text("c")])
    }),
  )

  it.effect("L6 makes the sender wait while the other end does not read", () =>
    Effect.gen(function* () {
      const [client, server] = yield* streamPair(1)
      const lines = Array.from({ length: 100 }, (_, n) => `${n} ${"x".repeat(500)}`)
      const sending = yield* start(Effect.forEach(lines, (line) => client.send([line])))
      yield* settled
      assert.isUndefined(sending.pollUnsafe())
      const all = yield* start(receiveAll(server))
      yield* Fiber.join(sending)
      yield* client.close
      assert.deepStrictEqual(yield* Fiber.join(all), lines.map(text))
    }),
  )

  it.effect("close ends the other end's input after what was sent, and only that direction", () =>
    Effect.gen(function* () {
      const [client, server] = yield* streamPair()
      yield* client.send(["a"])
      yield* client.close
      assert.deepStrictEqual(yield* receiveAll(server), [text("a")])
      assert.strictEqual((yield* Effect.flip(client.send(["b"])))._tag, "ConnectionClosed")
      yield* server.send(["answer"])
      assert.deepStrictEqual(yield* client.receive, [text("answer")])
    }),
  )

  it.effect("drop ends both directions, also for a waiting sender", () =>
    Effect.gen(function* () {
      const [client, server] = yield* streamPair(1)
      const sending = yield* start(Effect.forever(server.send(["x".repeat(500)])))
      yield* settled
      assert.isUndefined(sending.pollUnsafe())
      yield* client.drop
      assert.strictEqual((yield* Effect.flip(Fiber.join(sending)))._tag, "ConnectionClosed")
      assert.deepStrictEqual(yield* receiveAll(server), [])
      assert.strictEqual((yield* Effect.flip(client.send(["b"])))._tag, "ConnectionClosed")
    }),
  )
})
