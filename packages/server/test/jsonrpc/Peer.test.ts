import type { Frame } from "@colloquy/protocol/Connection"
import * as Lines from "@colloquy/transport-stdio/Lines"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { call, note, type PeerHarness, serve, Report } from "../support/PeerHarness.ts"

const ended = (peer: PeerHarness) => peer.serving.pollUnsafe() !== undefined

/** Advances the clock in small steps, and runs everything that each step causes. */
const pass = (peer: PeerHarness, ms: number) =>
  Effect.gen(function* () {
    yield* peer.quiet
    for (let left = ms; left > 0; left -= 100) {
      yield* TestClock.adjust(Math.min(left, 100))
      yield* peer.quiet
    }
  })

const shuttingDown = {
  code: -32000,
  message: "the server is shutting down; the request may have been carried out",
}

describe("Peer: responses", () => {
  it.effect.each<readonly [method: string, params: unknown, answer: object]>([
    ["echo", { n: 1 }, { result: { n: 1 } }],
    ["echo", { n: 1, more: true }, { result: { n: 1 } }],
    ["fail", undefined, { error: { code: 7, message: "no", data: { why: "test" } } }],
    ["die", undefined, { error: { code: -32603, message: "Internal error" } }],
    ["throw", undefined, { error: { code: -32603, message: "Internal error" } }],
    ["lie", undefined, { error: { code: -32603, message: "Internal error" } }],
    [
      "nothing",
      undefined,
      {
        error: { code: -32601, message: "Method not found: nothing", data: { method: "nothing" } },
      },
    ],
    [
      "note",
      { n: 1 },
      { error: { code: -32601, message: "Method not found: note", data: { method: "note" } } },
    ],
    [
      "__proto__",
      undefined,
      {
        error: {
          code: -32601,
          message: "Method not found: __proto__",
          data: { method: "__proto__" },
        },
      },
    ],
    [
      "echo",
      { n: "1" },
      {
        error: {
          code: -32602,
          message: "Invalid params: params.n: Expected number",
          data: { issues: [{ path: ["n"], message: "Expected number" }] },
        },
      },
    ],
  ])("L1 %s %j is answered once, with its id", ([method, params, answer]) =>
    Effect.gen(function* () {
      const peer = yield* serve()
      yield* peer.send(call("a", method, params))
      yield* peer.quiet
      assert.deepStrictEqual<unknown>(peer.messages, [{ jsonrpc: "2.0", id: "a", ...answer }])
    }),
  )

  it.effect("a slow request delays no later one", () =>
    Effect.gen(function* () {
      const peer = yield* serve()
      yield* peer.send(
        call(1, "sleep", { ms: 300 }),
        call(2, "hang"),
        call(3, "sleep", { ms: 100 }),
        call(4, "echo", { n: 4 }),
      )
      yield* pass(peer, 500)
      assert.deepStrictEqual(
        peer.messages.map(({ id }) => id),
        [4, 3, 1],
      )
    }),
  )

  it.effect(
    "more than maxInFlight requests are refused, and served again when others have ended",
    () =>
      Effect.gen(function* () {
        const peer = yield* serve({ maxInFlight: 2 })
        yield* peer.send(call(1, "hang"), call(2, "hang"), call(3, "echo", { n: 3 }))
        yield* peer.quiet
        assert.deepStrictEqual(peer.messages, [
          {
            jsonrpc: "2.0",
            id: 3,
            error: { code: -32000, message: "more than 2 requests in flight" },
          },
        ])
        yield* peer.send(note("unwanted", { id: 1 }))
        yield* peer.quiet
        yield* peer.send(call(4, "echo", { n: 4 }))
        yield* peer.quiet
        assert.deepStrictEqual(peer.messages.slice(1), [
          { jsonrpc: "2.0", id: 4, result: { n: 4 } },
        ])
      }),
  )

  it.effect(
    "L6 requests in flight are also bounded in characters, until one of them has ended",
    () =>
      Effect.gen(function* () {
        const peer = yield* serve({ maxInFlightChars: 2_000 })
        const large = "x".repeat(1_200)
        yield* peer.send(call(1, "hang", { large }), call(2, "hang", { large }))
        yield* peer.send(call(3, "echo", { n: 3 }))
        yield* peer.quiet
        const message = "more than 2000 characters of requests in flight"
        assert.deepStrictEqual(peer.messages, [
          { jsonrpc: "2.0", id: 3, error: { code: -32000, message } },
        ])
        yield* peer.send(note("unwanted", { id: 1 }))
        yield* peer.quiet
        yield* peer.send(call(4, "echo", { n: 4 }))
        yield* peer.quiet
        assert.deepStrictEqual(peer.messages.slice(1), [
          { jsonrpc: "2.0", id: 4, result: { n: 4 } },
        ])
      }),
  )

  it.effect("notifications are handled in order; unknown ones and bad parameters are ignored", () =>
    Effect.gen(function* () {
      const peer = yield* serve()
      yield* peer.send(
        note("note", { n: 1 }),
        note("note", { n: "2" }),
        note("note"),
        note("unknown", { n: 3 }),
        note("echo", { n: 4 }),
        note("note", [5]),
        note("note", { n: 6 }),
      )
      yield* peer.quiet
      assert.deepStrictEqual([peer.notes, peer.messages], [[1, 6], []])
    }),
  )

  it.effect("notifies in order, in the given batches", () =>
    Effect.gen(function* () {
      const peer = yield* serve()
      yield* peer.peer.control.notify(Report, [{ n: 1 }, { n: 2 }])
      yield* peer.peer.control.notify(Report, [])
      yield* peer.peer.control.notify(Report, [{ n: 3 }])
      yield* peer.quiet
      assert.deepStrictEqual(
        peer.messages,
        [1, 2, 3].map((n) => ({ jsonrpc: "2.0", method: "report", params: { n } })),
      )
    }),
  )
})

describe("Peer: faults of JSON-RPC", () => {
  const fault = (id: unknown, code: number, message: string) => ({
    jsonrpc: "2.0",
    id,
    error: { code, message },
  })
  const notJson = fault(null, -32700, "Parse error: the message is not one JSON value")
  const badNumber = (id: number | null) =>
    fault(
      id,
      -32600,
      "Invalid Request: `id` must be a string or an integer, beyond ±9007199254740991 in digits alone",
    )
  const badId = fault(null, -32600, "Invalid Request: `id` must be a string or an integer")
  it.effect.each<readonly [text: string, answer: object | undefined]>([
    ["{", notJson],
    ["", notJson],
    ["\u0000", notJson],
    ['{"jsonrpc":"2.0","id":1,"method":"echo"}{"jsonrpc":"2.0"}', notJson],
    [
      "[]",
      fault(
        null,
        -32600,
        "Invalid Request: batches are not supported, send each message by itself",
      ),
    ],
    ["7", fault(null, -32600, "Invalid Request: expected an object")],
    ["null", fault(null, -32600, "Invalid Request: expected an object")],
    ['"text"', fault(null, -32600, "Invalid Request: expected an object")],
    ["{}", fault(null, -32600, "Invalid Request: `method` is missing")],
    ['{"id":3}', fault(3, -32600, "Invalid Request: `method` is missing")],
    [
      '{"jsonrpc":"2.0","id":"m","method":42}',
      fault("m", -32600, "Invalid Request: `method` must be a string"),
    ],
    [
      '{"jsonrpc":"2.0","method":null}',
      fault(null, -32600, "Invalid Request: `method` must be a string"),
    ],
    ['{"jsonrpc":"2.0","id":null,"method":"echo"}', badId],
    ['{"jsonrpc":"2.0","id":1.5,"method":"echo"}', badNumber(1.5)],
    ['{"jsonrpc":"2.0","id":1e400,"method":"echo"}', badNumber(null)],
    ['{"jsonrpc":"2.0","id":{"a":1},"method":"echo"}', badId],
    ['{"jsonrpc":"2.0","id":[1],"method":"echo"}', badId],
    ['{"jsonrpc":"2.0","id":true,"method":"echo"}', badId],
    // A text that can only have been a response is never answered: the two peers would answer each other for ever.
    ['{"jsonrpc":"2.0","id":99,"result":{}}', undefined],
    ['{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}', undefined],
    ['{"jsonrpc":"2.0","id":null,"error":"garbage"}', undefined],
    ['{"jsonrpc":"2.0","error":null}', undefined],
    ['{"id":99,"error":{"code":9007199254740993}}', undefined],
    ['{"id":99,"error":{"code":1e308}}', undefined],
    ['{"id":null,"error":{"code":-1e308,"message":"m"}}', undefined],
    ['{"jsonrpc":"2.0","result":1}', undefined],
    ['{"id":{},"result":1,"error":2}', undefined],
  ])("L13 %j", ([text, answer]) =>
    Effect.gen(function* () {
      const peer = yield* serve()
      yield* peer.sendTexts(text)
      yield* peer.quiet
      assert.deepStrictEqual<unknown>(peer.messages, answer === undefined ? [] : [answer])
      yield* peer.send(call("after", "echo", { n: 1 }))
      yield* peer.quiet
      assert.deepStrictEqual(peer.responses("after").length, 1)
    }),
  )

  it.effect.each(["9.1e15", "-9.1e15", "1e300", "9007199254740993.0"])(
    "L13 a request with the number %s as its id is refused under that id, and runs nothing",
    (id) =>
      Effect.gen(function* () {
        const peer = yield* serve()
        yield* peer.sendTexts(`{"jsonrpc":"2.0","id":${id},"method":"hang"}`)
        yield* peer.quiet
        const [text = ""] = peer.texts
        assert.deepStrictEqual<unknown>(JSON.parse(text), badNumber(Number(id)))
      }),
  )

  it.effect("L13 lines that are too long or not UTF-8 are answered, and the next is served", () =>
    Effect.gen(function* () {
      const peer = yield* serve()
      const frames: ReadonlyArray<Frame> = [
        { _tag: "TooLong", bytes: 20, maxBytes: 10 },
        {
          _tag: "TooLong",
          bytes: 20,
          maxBytes: 10,
          setting: "max_line_bytes",
          envelope: { kind: "call", idToken: '"long"' },
        },
        {
          _tag: "TooLong",
          bytes: 20,
          maxBytes: 10,
          envelope: { kind: "response", idToken: "1" },
        },
        { _tag: "TooLong", bytes: 20, maxBytes: 10, envelope: { kind: "notification" } },
        { _tag: "NotUtf8", bytes: 3 },
      ]
      yield* Effect.forEach(frames, peer.client.inject)
      yield* peer.send(call(1, "echo", { n: 1 }))
      yield* peer.quiet
      assert.deepStrictEqual<unknown>(peer.messages, [
        fault(null, -32600, "Invalid Request: a line of 20 bytes, the limit is 10"),
        fault(
          "long",
          -32600,
          "Invalid Request: a line of 20 bytes, the limit is 10 (setting `max_line_bytes`)",
        ),
        fault(null, -32700, "Parse error: the message is not UTF-8"),
        { jsonrpc: "2.0", id: 1, result: { n: 1 } },
      ])
    }),
  )

  const Json = Schema.Json
  const Piece = Schema.Union([
    Schema.Struct({
      jsonrpc: Json,
      id: Json,
      method: Schema.Union([Json, Schema.Literals(["echo", "hang", "relay", "note", "unwanted"])]),
      params: Json,
    }),
    Schema.Struct({ id: Json, result: Json }),
    Schema.Struct({ id: Json, error: Json }),
    Schema.Struct({ method: Schema.Literals(["note", "unwanted"]), params: Json }),
    Json,
  ])

  it.effect.prop(
    "L13 no text and no JSON value ends it: the echo after it is answered",
    { values: Schema.Array(Piece), texts: Schema.Array(Schema.String) },
    ({ values, texts }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const peer = yield* serve()
          for (const value of values) {
            yield* peer.sendTexts(JSON.stringify(value))
            yield* peer.sendTexts(JSON.stringify(value).slice(1))
          }
          yield* peer.sendTexts(...texts)
          yield* peer.send(call("the one after", "echo", { n: 1 }))
          yield* peer.quiet
          assert.deepStrictEqual(peer.responses("the one after"), [
            { jsonrpc: "2.0", id: "the one after", result: { n: 1 } },
          ])
        }),
      ),
    { arbitrary: { runs: 100 } },
  )
})

const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
/** Random bytes, and the bytes that lines and messages consist of. */
const Bytes = Schema.Array(
  Schema.Union([Byte, Schema.Literals([0x0a, 0x0d, 0x22, 0x7b, 0x7d, 0x5b, 0xc3, 0xef])]),
)

describe("Peer: over the line reader of stdio", () => {
  it.effect.prop(
    "L13 no bytes end it, however they are split: the echo on the next line is answered",
    { chunks: Schema.Array(Bytes) },
    ({ chunks }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const peer = yield* serve()
          const lines = Lines.make(64)
          const after = new TextEncoder().encode(`\n{"id":7,"method":"echo","params":{"n":1}}\n`)
          for (const chunk of [...chunks.map((bytes) => Uint8Array.from(bytes)), after]) {
            yield* Effect.forEach(lines.push(chunk), peer.client.inject)
          }
          yield* peer.quiet
          assert.deepStrictEqual(peer.messages.at(-1), {
            jsonrpc: "2.0",
            id: 7,
            result: { n: 1 },
          })
        }),
      ),
    { arbitrary: { runs: 100 } },
  )
})

const Op = Schema.Struct({
  kind: Schema.Literals([
    "echo",
    "fail",
    "die",
    "hang",
    "sleep",
    "tidy",
    "cancel",
    "cancel",
    "settle",
    "time",
  ]),
  // Few ids, so that they collide: twice in flight, cancelled, used again.
  id: Schema.Literals([0, 1, 2, "0", "1", ""]),
})

const params: Readonly<Record<string, unknown>> = { echo: { n: 5 }, sleep: { ms: 300 } }

describe("Peer: exactly one response", () => {
  it.effect.prop(
    "L1 every request is answered once unless cancelled, none after its cancellation was processed",
    {
      ops: Schema.Array(Op),
      capacity: Schema.Literals([1, 3, 64]),
      grace: Schema.Literals([0, 200, 500]),
    },
    ({ ops, capacity, grace }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const peer = yield* serve({ capacity, shutdownGrace: grace })
          const owed = new Map<unknown, number>()
          // Refused for an id in use: the response names that id in its data.
          const refused = (id: unknown) =>
            peer.responses(null).filter(({ error }) => {
              const { data } = error ?? {}
              return typeof data === "object" && data !== null && Reflect.get(data, "id") === id
            })
          const answered = (id: unknown) => peer.responses(id).length + refused(id).length
          for (const { kind, id } of ops) {
            if (kind === "settle") yield* peer.quiet
            else if (kind === "time") yield* pass(peer, 200)
            else if (kind === "cancel") {
              yield* peer.send(note("unwanted", { id }))
              yield* peer.quiet
              const [due, given] = [owed.get(id) ?? 0, answered(id)]
              // Only one request with this id can have been in flight; the others were refused at once.
              assert.isTrue(given === due || given === due - 1, `${String(id)}: ${given} of ${due}`)
              owed.set(id, given)
            } else {
              owed.set(id, (owed.get(id) ?? 0) + 1)
              yield* peer.send(call(id, kind, params[kind]))
            }
          }
          // The end of input comes at an arbitrary point.
          yield* peer.client.close
          yield* pass(peer, 5000)
          assert.isTrue(ended(peer))
          for (const [id, due] of owed) {
            assert.strictEqual(answered(id), due, `responses to ${JSON.stringify(id)}`)
          }
        }),
      ),
    { arbitrary: { runs: 60 } },
  )
})

describe("Peer: the other direction", () => {
  it.effect(
    "sends requests numbered from 1, and returns the response to the handler that sent the request",
    () =>
      Effect.gen(function* () {
        const peer = yield* serve()
        yield* peer.send(call("a", "relay"), call("b", "relay"))
        yield* peer.quiet
        const ask = (id: number) => ({
          jsonrpc: "2.0",
          id,
          method: "ask",
          params: { question: "?" },
        })
        assert.deepStrictEqual<unknown>(peer.messages, [ask(1), ask(2)])
        yield* peer.send({ jsonrpc: "2.0", id: 2, result: { answer: "two" } })
        yield* peer.send({ jsonrpc: "2.0", id: 2, result: { answer: "twice" } })
        yield* peer.send({ jsonrpc: "2.0", id: 1, result: { answer: "one" } })
        yield* peer.quiet
        assert.deepStrictEqual<unknown>(peer.messages.slice(2), [
          { jsonrpc: "2.0", id: "b", result: { answer: "two" } },
          { jsonrpc: "2.0", id: "a", result: { answer: "one" } },
        ])
      }),
  )

  it.effect.each<readonly [answer: object, error: object]>([
    [{ error: { code: 5, message: "no", data: 1 } }, { code: 5, message: "no", data: 1 }],
    [{ error: "garbage" }, { code: -32603, message: "error without a message" }],
    [
      { result: { answer: 7 } },
      { code: -32603, message: "unusable response: result.answer: Expected string" },
    ],
    [{ result: null }, { code: -32603, message: "unusable response: result.answer: Missing key" }],
    [{}, { code: -32603, message: "unusable response: it has neither `result` nor `error`" }],
    [
      { result: { answer: "yes" }, error: { code: 5, message: "no" } },
      { code: 5, message: "no" },
    ],
  ])("a response that is an error or unusable fails only its request: %j", ([answer, error]) =>
    Effect.gen(function* () {
      const peer = yield* serve()
      yield* peer.send(call("a", "relay"))
      yield* peer.quiet
      yield* peer.send({ jsonrpc: "2.0", id: 1, ...answer })
      yield* peer.quiet
      assert.deepStrictEqual<unknown>(peer.responses("a"), [{ jsonrpc: "2.0", id: "a", error }])
      // Nothing else is sent: an error under the id of this request could be taken for a response to another.
      assert.lengthOf(peer.messages, 2)
    }),
  )

  it.effect('the id "1" as text does not respond to request 1', () =>
    Effect.gen(function* () {
      const peer = yield* serve()
      yield* peer.send(call("a", "relay"))
      yield* peer.quiet
      yield* peer.send({ jsonrpc: "2.0", id: "1", result: { answer: "wrong" } })
      yield* peer.quiet
      assert.deepStrictEqual(peer.responses("a"), [])
    }),
  )

  it.effect("cancels its request when the request that caused it is cancelled", () =>
    Effect.gen(function* () {
      const peer = yield* serve()
      yield* peer.send(call("a", "relay"))
      yield* peer.quiet
      yield* peer.send(note("unwanted", { id: "a" }))
      yield* peer.quiet
      assert.deepStrictEqual(peer.messages.slice(1), [
        { jsonrpc: "2.0", method: "withdrawn", params: { id: 1 } },
      ])
      yield* peer.send({ jsonrpc: "2.0", id: 1, result: { answer: "late" } })
      yield* peer.quiet
      assert.strictEqual(peer.messages.length, 2)
    }),
  )

  it.effect(
    "L9 at the end of input every pending request to the client fails, and the requests that caused them are answered",
    () =>
      Effect.gen(function* () {
        const peer = yield* serve()
        yield* peer.send(call("a", "relay"), call("b", "relay"))
        yield* peer.quiet
        yield* peer.client.close
        yield* peer.quiet
        const error = { code: 8, message: "the connection has ended" }
        assert.deepStrictEqual<unknown>(peer.messages.slice(2), [
          { jsonrpc: "2.0", id: "a", error },
          { jsonrpc: "2.0", id: "b", error },
        ])
        yield* Fiber.join(peer.serving)
      }),
  )
})

describe("Peer: the end of input", () => {
  it.effect("L9 nothing is sent after the connection has ended", () =>
    Effect.gen(function* () {
      const peer = yield* serve()
      yield* peer.client.close
      yield* Fiber.await(peer.serving)
      const { reason } = yield* Effect.flip(peer.peer.control.notify(Report, [{ n: 1 }]))
      yield* peer.quiet
      assert.strictEqual(reason, "the connection has ended")
      assert.deepStrictEqual(peer.texts, [])
    }),
  )

  it.effect("L9 ends at once with nothing in flight", () =>
    Effect.gen(function* () {
      const peer = yield* serve()
      yield* peer.send(call(1, "echo", { n: 1 }))
      yield* peer.client.close
      yield* Fiber.join(peer.serving)
      yield* peer.quiet
      assert.strictEqual(peer.responses(1).length, 1)
    }),
  )

  it.effect(
    "L9 a request that ends within the grace is answered, and the end does not wait longer",
    () =>
      Effect.gen(function* () {
        const peer = yield* serve({ shutdownGrace: "500 millis" })
        yield* peer.send(call(1, "sleep", { ms: 300 }))
        yield* peer.client.close
        yield* pass(peer, 200)
        assert.isFalse(ended(peer))
        yield* pass(peer, 100)
        assert.deepStrictEqual(peer.responses(1), [{ jsonrpc: "2.0", id: 1, result: {} }])
        assert.isTrue(ended(peer))
      }),
  )

  it.effect(
    "L9 requests that still run after the grace are stopped and answered with an error",
    () =>
      Effect.gen(function* () {
        const peer = yield* serve({ shutdownGrace: "500 millis" })
        yield* peer.send(call(1, "hang"), call(2, "tidy"), call(3, "sleep", { ms: 300 }))
        yield* peer.client.close
        yield* pass(peer, 400)
        assert.deepStrictEqual(
          peer.messages.map(({ id }) => id),
          [3],
        )
        yield* pass(peer, 100)
        assert.isFalse(ended(peer), "tidy still cleans up")
        yield* pass(peer, 200)
        assert.deepStrictEqual<unknown>(peer.messages.slice(1), [
          { jsonrpc: "2.0", id: 1, error: shuttingDown },
          { jsonrpc: "2.0", id: 2, error: shuttingDown },
        ])
        assert.isTrue(ended(peer))
      }),
  )

  it.effect(
    "L9 a handler that does not stop gets an error sent for it, and delays the end no longer than its bound",
    () =>
      Effect.gen(function* () {
        const peer = yield* serve({ shutdownGrace: "500 millis" })
        yield* peer.send(call(1, "refuse"), call(2, "hang"))
        yield* peer.client.close
        yield* pass(peer, 500 + 2000 + 100)
        assert.deepStrictEqual<unknown>(peer.messages, [
          { jsonrpc: "2.0", id: 1, error: shuttingDown },
          { jsonrpc: "2.0", id: 2, error: shuttingDown },
        ])
        assert.isTrue(ended(peer))
        yield* peer.release
        yield* peer.quiet
        assert.strictEqual(peer.messages.length, 2)
      }),
  )

  it.effect("L9 a reader that never reads delays the end no longer than its bound", () =>
    Effect.gen(function* () {
      const peer = yield* serve({ capacity: 2, reading: false })
      yield* peer.send(call(1, "echo", { n: 1 }), call(2, "echo", { n: 2 }))
      yield* peer.send(call(3, "echo", { n: 3 }), call(4, "hang"))
      yield* peer.quiet
      yield* peer.client.close
      yield* pass(peer, 10_000)
      assert.isTrue(ended(peer))
    }),
  )

  it.effect(
    "L9 ends when everything that it sent was handed over, which is after the last response",
    () =>
      Effect.gen(function* () {
        const flushed = yield* Deferred.make<void>()
        const answered: Array<number> = []
        const flush = Effect.gen(function* () {
          yield* peer.quiet
          answered.push(peer.messages.length)
          yield* Deferred.await(flushed)
        })
        const peer: PeerHarness = yield* serve({ flush })
        yield* peer.send(call(1, "sleep", { ms: 300 }))
        yield* peer.client.close
        yield* pass(peer, 500)
        assert.deepStrictEqual([answered, ended(peer)], [[1], false])
        yield* Deferred.succeed(flushed, undefined)
        yield* Fiber.join(peer.serving)
      }),
  )

  it.effect("L9 a flush that never ends delays the end no longer than its bound", () =>
    Effect.gen(function* () {
      const peer = yield* serve({ flush: Effect.never })
      yield* peer.client.close
      yield* pass(peer, 4900)
      assert.isFalse(ended(peer))
      yield* pass(peer, 100)
      assert.isTrue(ended(peer))
    }),
  )

  it.effect("L9 ends when the peer has disconnected, whatever is in flight", () =>
    Effect.gen(function* () {
      const peer = yield* serve()
      yield* peer.send(call(1, "hang"), call(2, "sleep", { ms: 300 }), call(3, "relay"))
      yield* peer.quiet
      yield* peer.client.drop
      yield* pass(peer, 3000)
      assert.isTrue(ended(peer))
    }),
  )
})
