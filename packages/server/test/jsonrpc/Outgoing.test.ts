import { ConnectionClosed } from "@colloquy/protocol/Connection"
import { JsonRpcError, type RequestId } from "@colloquy/protocol/JsonRpc"
import { request } from "@colloquy/protocol/Method"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { make } from "../../src/jsonrpc/Outgoing.ts"

const Ask = request("ask", {
  since: "test",
  doc: "For tests.",
  params: Schema.Struct({ n: Schema.Int }),
  result: Schema.Struct({ answer: Schema.String }),
})

const settled = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

const start = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.forkChild(effect, { startImmediately: true })

const connectionEnded = new ConnectionClosed({ reason: "the connection has ended" })

const table = (send: Effect.Effect<void, ConnectionClosed> = Effect.void) => {
  const sent: Array<string> = []
  const withdrawn: Array<RequestId> = []
  const outgoing = make(
    (texts) =>
      Effect.suspend(() => {
        sent.push(...texts)
        return send
      }),
    (id) => Effect.sync(() => withdrawn.push(id)),
  )
  return { outgoing, sent, withdrawn }
}

const answer = (text: string) => Exit.succeed({ answer: text })

describe("Outgoing", () => {
  it.effect("numbers requests from 1 and gives each its own response, whatever their order", () =>
    Effect.gen(function* () {
      const { outgoing, sent } = table()
      const [a, b] = [
        yield* start(outgoing.ask(Ask, { n: 1 })),
        yield* start(outgoing.ask(Ask, { n: 2 })),
      ]
      assert.deepStrictEqual(
        sent,
        [1, 2].map((id) =>
          JSON.stringify({ jsonrpc: "2.0", id, method: "ask", params: { n: id } }),
        ),
      )
      yield* outgoing.settle(2, answer("two"))
      yield* outgoing.settle(1, answer("one"))
      assert.deepStrictEqual(
        [yield* Fiber.join(a), yield* Fiber.join(b)],
        [{ answer: "one" }, { answer: "two" }],
      )
    }),
  )

  it.effect("accepts the first response and ignores late, mismatched and unidentified ones", () =>
    Effect.gen(function* () {
      const { outgoing } = table()
      const asked = yield* start(outgoing.ask(Ask, { n: 1 }))
      for (const id of [0, 2, "1", "", null]) yield* outgoing.settle(id, answer("wrong"))
      yield* outgoing.settle(1, answer("first"))
      yield* outgoing.settle(1, Exit.fail(new JsonRpcError({ code: 1, message: "second" })))
      assert.deepStrictEqual(yield* Fiber.join(asked), { answer: "first" })
    }),
  )

  it.effect(
    "fails with the error of the peer, and with a local error for an unusable response",
    () =>
      Effect.gen(function* () {
        const { outgoing } = table()
        const refused = yield* start(Effect.flip(outgoing.ask(Ask, { n: 1 })))
        const unusable = yield* start(Effect.flip(outgoing.ask(Ask, { n: 2 })))
        const error = new JsonRpcError({ code: 5, message: "no", data: [1] })
        yield* outgoing.settle(1, Exit.fail(error))
        yield* outgoing.settle(2, Exit.succeed({ answer: 1 }))
        assert.deepStrictEqual(
          [yield* Fiber.join(refused), yield* Fiber.join(unusable)],
          [
            error,
            new JsonRpcError({
              code: -32603,
              message: "unusable response: result.answer: Expected string",
            }),
          ],
        )
      }),
  )

  it.effect("cancels a request once when its caller is interrupted", () =>
    Effect.gen(function* () {
      const { outgoing, withdrawn } = table()
      const asked = yield* start(outgoing.ask(Ask, { n: 1 }))
      yield* Fiber.interrupt(asked)
      assert.deepStrictEqual(withdrawn, [1])
      yield* outgoing.settle(1, answer("late"))
      yield* outgoing.close
      assert.deepStrictEqual(withdrawn, [1])
    }),
  )

  it.effect("does not cancel an answered request", () =>
    Effect.gen(function* () {
      const { outgoing, withdrawn } = table()
      const asked = yield* start(outgoing.ask(Ask, { n: 1 }))
      yield* outgoing.settle(1, answer("in time"))
      yield* Fiber.interrupt(asked)
      assert.deepStrictEqual(withdrawn, [])
    }),
  )

  it.effect("fails every pending and every later request when it is closed", () =>
    Effect.gen(function* () {
      const { outgoing, sent } = table()
      const open = yield* start(Effect.flip(outgoing.ask(Ask, { n: 1 })))
      yield* outgoing.close
      assert.deepStrictEqual(
        [yield* Fiber.join(open), yield* Effect.flip(outgoing.ask(Ask, { n: 2 })), sent.length],
        [connectionEnded, connectionEnded, 1],
      )
    }),
  )

  it.effect("a request that cannot be sent fails and leaves nothing pending", () =>
    Effect.gen(function* () {
      const closed = new ConnectionClosed({ reason: "gone" })
      const { outgoing, withdrawn } = table(Effect.fail(closed))
      assert.strictEqual(yield* Effect.flip(outgoing.ask(Ask, { n: 1 })), closed)
      yield* outgoing.settle(1, answer("to nothing"))
      yield* settled
      assert.deepStrictEqual(withdrawn, [])
    }),
  )

  it.effect("params that do not match the method are a defect and are not sent", () =>
    Effect.gen(function* () {
      const { outgoing, sent } = table()
      const exit = yield* Effect.exit(outgoing.ask(Ask, { n: "1" }))
      assert.isTrue(Exit.hasDies(exit))
      assert.deepStrictEqual(sent, [])
    }),
  )
})
