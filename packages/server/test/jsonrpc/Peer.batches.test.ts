import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { call, note, serve } from "../support/PeerHarness.ts"

const ok = (id: unknown, n: number) => ({ jsonrpc: "2.0", id, result: { n } })

const fault = (id: unknown, code: number, message: string) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
})

const parsed = (texts: ReadonlyArray<string>): ReadonlyArray<unknown> =>
  texts.map((text): unknown => JSON.parse(text))

describe("Peer: batches", () => {
  it.effect(
    "L1 answers an array with one array, in the order of the requests, when all are answered",
    () =>
      Effect.gen(function* () {
        const peer = yield* serve({ batches: true })
        yield* peer.send([
          call("slow", "sleep", { ms: 1000 }),
          call(2, "echo", { n: 2 }),
          note("note", { n: 7 }),
          { id: 3 },
          call(4, "nobody"),
          call(5, "echo", { n: "x" }),
        ])
        yield* peer.send(call(6, "echo", { n: 6 }))
        yield* peer.quiet
        assert.deepStrictEqual([parsed(peer.texts), peer.notes], [[ok(6, 6)], [7]])
        yield* TestClock.adjust("1 second")
        yield* peer.quiet
        assert.deepStrictEqual(parsed(peer.texts.slice(1)), [
          [
            { jsonrpc: "2.0", id: "slow", result: {} },
            ok(2, 2),
            fault(3, -32600, "Invalid Request: `method` is missing"),
            {
              jsonrpc: "2.0",
              id: 4,
              error: {
                code: -32601,
                message: "Method not found: nobody",
                data: { method: "nobody" },
              },
            },
            {
              jsonrpc: "2.0",
              id: 5,
              error: {
                code: -32602,
                message: "Invalid params: params.n: Expected number",
                data: { issues: [{ path: ["n"], message: "Expected number" }] },
              },
            },
          ],
        ])
      }),
  )

  it.effect("an array of only notifications and responses is not answered", () =>
    Effect.gen(function* () {
      const peer = yield* serve({ batches: true })
      yield* peer.send([note("note", { n: 1 }), { id: 9, result: {} }, note("note", { n: 2 })])
      yield* peer.quiet
      assert.deepStrictEqual([peer.texts, peer.notes], [[], [1, 2]])
    }),
  )

  it.effect("L1 each request of an array that is too long is answered under its own id", () =>
    Effect.gen(function* () {
      const peer = yield* serve({ batches: true })
      const calls = Array.from({ length: 127 }, (_, id) => call(id, "echo", { n: 1 }))
      yield* peer.send([...calls, note("note", { n: 1 }), { id: true, method: "echo" }])
      yield* peer.quiet
      const error = "Invalid Request: a batch of 129 messages, the limit is 128"
      const [responses = []] = parsed(peer.texts) as ReadonlyArray<ReadonlyArray<unknown>>
      assert.deepStrictEqual(
        responses.slice(0, 127),
        calls.map((_, id) => fault(id, -32600, error)),
      )
      assert.strictEqual(responses.length, 128)
      assert.deepStrictEqual(peer.notes, [])
    }),
  )

  it.effect("an empty array and one without a usable member get one error", () =>
    Effect.gen(function* () {
      const peer = yield* serve({ batches: true })
      yield* peer.send([])
      yield* peer.quiet
      const other = yield* serve()
      yield* other.send([call(1, "echo", { n: 1 })])
      yield* other.quiet
      assert.deepStrictEqual(
        [...parsed(peer.texts), ...parsed(other.texts)],
        [
          fault(null, -32600, "Invalid Request: an empty batch"),
          fault(
            null,
            -32600,
            "Invalid Request: batches are not supported, send each message by itself",
          ),
        ],
      )
    }),
  )

  it.effect("L1 a request that is cancelled leaves its place empty, the others are answered", () =>
    Effect.gen(function* () {
      const peer = yield* serve({ batches: true })
      yield* TestClock.adjust(0)
      yield* peer.send([call(1, "hang"), call(2, "echo", { n: 2 }), call(3, "tidy")])
      yield* peer.send(note("unwanted", { id: 1 }), note("unwanted", { id: 3 }))
      yield* peer.quiet
      assert.deepStrictEqual(peer.texts, [])
      yield* TestClock.adjust("200 millis")
      yield* peer.quiet
      assert.deepStrictEqual(parsed(peer.texts), [[ok(2, 2)]])
    }),
  )

  it.effect("an array whose requests were all cancelled is not answered", () =>
    Effect.gen(function* () {
      const peer = yield* serve({ batches: true })
      yield* peer.send([call(1, "hang")], note("unwanted", { id: 1 }))
      yield* peer.quiet
      assert.deepStrictEqual(peer.texts, [])
    }),
  )

  it.effect.each(["hang", "tidy", "refuse"])(
    "L1 L9 at the end of input a batch with a member that runs %s delivers the responses of the others",
    (method) =>
      Effect.gen(function* () {
        const peer = yield* serve({ batches: true, shutdownGrace: "1 second" })
        yield* peer.send([
          call(1, "echo", { n: 1 }),
          call("stuck", method),
          call(2, "echo", { n: 2 }),
        ])
        yield* peer.send(call("alone", method))
        yield* peer.quiet
        yield* peer.client.close
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.join(peer.serving)
        yield* peer.quiet
        const stopped = (id: string) =>
          fault(id, -32000, "the server is shutting down; the request may have been carried out")
        assert.sameDeepMembers<unknown>(
          [...parsed(peer.texts)],
          [stopped("alone"), [ok(1, 1), stopped("stuck"), ok(2, 2)]],
        )
      }),
  )

  it.effect(
    "L1 L9 a cancelled member that does not stop delays no response at the end of input",
    () =>
      Effect.gen(function* () {
        const peer = yield* serve({ batches: true, shutdownGrace: "1 second" })
        yield* peer.send([call("stuck", "refuse"), call(2, "echo", { n: 2 })])
        yield* peer.send(note("unwanted", { id: "stuck" }))
        yield* peer.quiet
        yield* peer.client.close
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.join(peer.serving)
        yield* peer.quiet
        assert.deepStrictEqual(parsed(peer.texts), [[ok(2, 2)]])
      }),
  )

  it.effect("an id of an array that is still in flight is refused", () =>
    Effect.gen(function* () {
      const peer = yield* serve({ batches: true })
      yield* peer.send([call(1, "hang"), call(1, "echo", { n: 1 })])
      yield* peer.send(note("unwanted", { id: 1 }))
      yield* peer.quiet
      assert.deepStrictEqual(parsed(peer.texts), [
        [
          {
            jsonrpc: "2.0",
            id: null,
            error: {
              code: -32600,
              message: "Invalid Request: the id 1 is in use by a request still in flight",
              data: { id: 1 },
            },
          },
        ],
      ])
    }),
  )
})
