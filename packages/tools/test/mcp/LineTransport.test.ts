import { assert, describe, it } from "@effect/vitest"
import type { McpClientError } from "effect/ai/McpClientError"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as FloodGauge from "../../src/mcp/FloodGauge.ts"
import * as LineTransport from "../../src/mcp/LineTransport.ts"

const encoder = new TextEncoder()

/** The other end of a transport, in memory. */
const makePeer = (options: { readonly maxLineChars?: number; readonly reads?: boolean } = {}) =>
  Effect.gen(function* () {
    const toClient = yield* Queue.unbounded<Uint8Array, Cause.Done>()
    const received: Array<string> = []
    const lines = yield* LineTransport.make({
      incoming: Stream.fromQueue(toClient),
      outgoing:
        options.reads === false
          ? Sink.forEach(() => Effect.never)
          : Sink.forEach((bytes) =>
              Effect.sync(() => received.push(new TextDecoder().decode(bytes))),
            ),
      answering: ({ method }) => Effect.succeed(`answer to ${method}`),
      gauge: FloodGauge.make(0),
      describe: (reason) => Effect.succeed(`${reason} (described)`),
      ...(options.maxLineChars === undefined ? {} : { maxLineChars: options.maxLineChars }),
    })
    return {
      lines,
      received,
      say: (text: string) => Queue.offer(toClient, encoder.encode(text)),
      sayBytes: (bytes: Uint8Array) => Queue.offer(toClient, bytes),
      hangUp: Queue.end(toClient),
    }
  })

const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: {} } as const

const messageOf = <A>(effect: Effect.Effect<A, McpClientError>) =>
  Effect.match(effect, { onFailure: ({ message }) => message, onSuccess: () => "succeeded" })

describe("LineTransport", () => {
  it.effect(
    "an answer is found between foreign answers, notifications and noise, cut anywhere",
    () =>
      Effect.gen(function* () {
        const { lines, received, sayBytes } = yield* makePeer()
        const fiber = yield* Effect.forkChild(lines.transport.request(call), {
          startImmediately: true,
        })
        yield* TestClock.adjust(0)
        const text =
          'noise\r\n\n{"method":"ping","id":"p"}\n{"id":2,"result":{}}\n{"id":"1","result":{}}\n' +
          '{"id":null,"error":{"code":1,"message":"x"}}\n[]\n{"method":"n"}\n{"id":1,"result":{"content":["é"]}}\n'
        const bytes = encoder.encode(text)
        for (const byte of bytes) yield* sayBytes(Uint8Array.of(byte))
        assert.deepStrictEqual(yield* Fiber.join(fiber), {
          jsonrpc: "2.0",
          id: 1,
          result: { content: ["é"] },
        })
        yield* TestClock.adjust(0)
        assert.deepStrictEqual(received, [
          '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}\n',
          "answer to ping\n",
        ])
      }),
  )

  it.effect("everybody who waits is told why the connection ended, and later callers too", () =>
    Effect.gen(function* () {
      const { hangUp, lines } = yield* makePeer()
      const fiber = yield* Effect.forkChild(messageOf(lines.transport.request(call)))
      yield* hangUp
      const told = "the server closed its output (described)"
      assert.strictEqual(yield* Fiber.join(fiber), told)
      assert.strictEqual(yield* messageOf(lines.transport.request({ ...call, id: 2 })), told)
      assert.strictEqual(yield* lines.ended, told)
      assert.isTrue(lines.isOver())
    }),
  )

  it.effect.each(["x".repeat(101), `{"id":1,"result":"${"x".repeat(100)}`])(
    "a line that never ends is not kept: %.10s",
    (text) =>
      Effect.gen(function* () {
        const { lines, say } = yield* makePeer({ maxLineChars: 100 })
        yield* say(text)
        assert.strictEqual(
          yield* lines.ended,
          "the server sent a message that is too long (described)",
        )
      }),
  )

  it.effect("a flood of notifications ends the connection; the same said slowly does not", () =>
    Effect.gen(function* () {
      const chunk = `${JSON.stringify({ method: "n", params: { data: "x".repeat(1024 * 1024) } })}\n`
      const slow = yield* makePeer()
      for (let i = 0; i < 60; i++) {
        yield* slow.say(chunk)
        yield* TestClock.adjust("2 seconds")
      }
      assert.isFalse(slow.lines.isOver())
      const fast = yield* makePeer()
      const told = yield* Effect.forkChild(fast.lines.ended)
      for (let i = 0; i < 40; i++) yield* fast.say(chunk)
      assert.strictEqual(
        yield* Fiber.join(told),
        "the server sent too much that nobody asked for (described)",
      )
    }),
  )

  it.effect(
    "L14 a server that reads nothing holds up neither callers' interrupts nor their end",
    () =>
      Effect.gen(function* () {
        const { hangUp, lines } = yield* makePeer({ reads: false })
        const fibers = yield* Effect.forEach(Array.from({ length: 40 }), (_, i) =>
          Effect.forkChild(messageOf(lines.transport.request({ ...call, id: i })), {
            startImmediately: true,
          }),
        )
        const [first, ...others] = fibers
        if (first !== undefined) yield* Fiber.interrupt(first)
        yield* hangUp
        for (const fiber of others) {
          assert.strictEqual(yield* Fiber.join(fiber), "the server closed its output (described)")
        }
      }),
  )

  it.effect("an interrupted request is cancelled by its id; one that was answered is not", () =>
    Effect.gen(function* () {
      const { lines, received, say } = yield* makePeer()
      const fiber = yield* Effect.forkChild(lines.transport.request(call))
      yield* TestClock.adjust(0)
      yield* Fiber.interrupt(fiber)
      const other = yield* Effect.forkChild(lines.transport.request({ ...call, id: 2 }))
      yield* say('{"id":2,"result":{"content":[]}}\n')
      yield* Fiber.join(other)
      yield* Fiber.interrupt(other)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(received, [
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}\n',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n',
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}\n',
      ])
    }),
  )
})
