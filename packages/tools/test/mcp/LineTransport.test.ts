import type * as JsonRpc from "@colloquy/protocol/JsonRpc"
import { assert, describe, it } from "@effect/vitest"
import type { McpClientError } from "effect/ai/McpClientError"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as UnsolicitedLimit from "../../src/mcp/UnsolicitedLimit.ts"
import * as LineTransport from "../../src/mcp/LineTransport.ts"

const encoder = new TextEncoder()

/** The other end of a transport, in memory. */
const makePeer = (
  options: {
    readonly answering?: (request: JsonRpc.Request) => string
    readonly maxLineBytes?: number
    readonly reads?: boolean
  } = {},
) =>
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
      answering: (request) =>
        Effect.succeed(options.answering?.(request) ?? `answer to ${request.method}`),
      gauge: UnsolicitedLimit.make(0),
      describe: (ending) =>
        Effect.succeed(ending._tag === "Stopped" ? `stopped: ${ending.why}` : "closed"),
      ...(options.maxLineBytes === undefined ? {} : { maxLineBytes: options.maxLineBytes }),
    })
    return {
      lines,
      received,
      say: (text: string) => Queue.offer(toClient, encoder.encode(text)),
      sayBytes: (bytes: Uint8Array) => Queue.offer(toClient, bytes),
      hangUp: Queue.end(toClient),
    }
  })

const tooMuch =
  "stopped: it sent more than 32 MiB that belongs to no call (each message counts as its length and 512 bytes, and 1 MiB is added in each second)"

const logs = () => {
  const logged: Array<string> = []
  const one = Logger.make(({ logLevel, message }) => {
    logged.push(`${logLevel} ${[message].flat().map(String).join(" ")}`)
  })
  return { logged, logger: Logger.layer([one]) }
}

const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: {} } as const

const messageOf = <A>(effect: Effect.Effect<A, McpClientError>) =>
  Effect.match(effect, { onFailure: ({ message }) => message, onSuccess: () => "succeeded" })

describe("LineTransport", () => {
  it.effect(
    "a response is found between other responses, notifications and noise, split anywhere",
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

  it.effect("all waiting and all later callers get the reason why the connection ended", () =>
    Effect.gen(function* () {
      const { hangUp, lines } = yield* makePeer()
      const fiber = yield* Effect.forkChild(messageOf(lines.transport.request(call)))
      yield* hangUp
      const texts = "closed"
      assert.strictEqual(yield* Fiber.join(fiber), texts)
      assert.strictEqual(yield* messageOf(lines.transport.request({ ...call, id: 2 })), texts)
      assert.strictEqual(yield* lines.ended, texts)
      assert.isTrue(lines.isOver())
    }),
  )

  it.effect("L13 a line that never ends is not stored, and ends the connection", () =>
    Effect.gen(function* () {
      const { lines, sayBytes } = yield* makePeer({ maxLineBytes: 100 })
      const reason = yield* Effect.forkChild(lines.ended)
      const chunk = new Uint8Array(1024 * 1024).fill(0x78)
      for (let i = 0; i < 40; i++) yield* sayBytes(chunk)
      assert.strictEqual(yield* Fiber.join(reason), tooMuch)
    }),
  )

  it.effect.each([
    `{"id":1,"result":{"text":"${"x".repeat(100)}"}}`,
    `{"result":{"id":2,"text":"${"x".repeat(100)}"},"jsonrpc":"2.0","id":1}`,
  ])("L13 a response that is too long fails only its call: %.10s", (response) =>
    Effect.gen(function* () {
      const { lines, say } = yield* makePeer({ maxLineBytes: 100 })
      const first = yield* Effect.forkChild(lines.transport.request(call))
      const second = yield* Effect.forkChild(lines.transport.request({ ...call, id: 2 }))
      yield* TestClock.adjust(0)
      yield* say(`${response}\n{"id":2,"result":{"content":[]}}\n`)
      const limit = `a line of ${response.length} bytes, the limit is 100`
      assert.deepStrictEqual<unknown>(yield* Fiber.join(first), {
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32603, message: `the response cannot be read: ${limit}` },
      })
      assert.deepStrictEqual<unknown>(yield* Fiber.join(second), {
        jsonrpc: "2.0",
        id: 2,
        result: { content: [] },
      })
      assert.isFalse(lines.isOver())
    }),
  )

  it.effect("L1 a request of the server that is too long or invalid gets an error", () =>
    Effect.gen(function* () {
      const { received, say } = yield* makePeer({ maxLineBytes: 100 })
      yield* say(
        `{"method":"ping","params":"${"x".repeat(100)}","id":"p"}\n{"id":"q","method":7}\n`,
      )
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(
        received.map((text) => {
          const { error, id } = JSON.parse(text) as { id: string; error: { code: number } }
          return [id, error.code]
        }),
        [
          ["p", -32600],
          ["q", -32600],
        ],
      )
    }),
  )

  it.effect.each(["1e300", "9007199254740993", "1.5", '"1"'])(
    "L13 an error with the code %s fails its call at once, and is logged",
    (code) =>
      Effect.gen(function* () {
        const { logged, logger } = logs()
        yield* Effect.gen(function* () {
          const { lines, say } = yield* makePeer()
          const fiber = yield* Effect.forkChild(lines.transport.request(call))
          yield* TestClock.adjust(0)
          yield* say(`{"id":1,"error":{"code":${code},"message":"no"}}\n`)
          assert.deepStrictEqual<unknown>(yield* Fiber.join(fiber), {
            jsonrpc: "2.0",
            id: 1,
            error: { code: -32603, message: "no" },
          })
          const next = yield* Effect.forkChild(lines.transport.request({ ...call, id: 2 }))
          yield* TestClock.adjust(0)
          yield* say('{"id":2,"result":{"content":[]}}\n')
          yield* Fiber.join(next)
        }).pipe(Effect.provide(logger))
        assert.deepStrictEqual(logged, [
          "Warn unusable response of a tool server: malformed error: its code is no integer within ±9007199254740991",
        ])
      }),
  )

  it.effect(
    "a flood of notifications ends the connection; the same number sent slowly does not",
    () =>
      Effect.gen(function* () {
        const chunk = `${JSON.stringify({ method: "n", params: { data: "x".repeat(1024 * 1024) } })}\n`
        const slow = yield* makePeer()
        for (let i = 0; i < 60; i++) {
          yield* slow.say(chunk)
          yield* TestClock.adjust("2 seconds")
        }
        assert.isFalse(slow.lines.isOver())
        const fast = yield* makePeer()
        const texts = yield* Effect.forkChild(fast.lines.ended)
        for (let i = 0; i < 40; i++) yield* fast.say(chunk)
        assert.strictEqual(yield* Fiber.join(texts), tooMuch)
      }),
  )

  it.effect(
    "L14 a server that reads nothing delays neither interrupts of callers nor their end",
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
          assert.strictEqual(yield* Fiber.join(fiber), "closed")
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

  it.effect.each([
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1e300,"message":"m"}}', "m"],
    ['{"jsonrpc":"2.0","id":1,"result":{"content":[]}}', "succeeded"],
    [
      '{"method":"n"},7,[],{"id":"p","method":"ping"},{"id":1,"result":{"content":[]}}',
      "succeeded",
    ],
  ])("L13 L1 the messages of an array are read separately: [%s]", ([members, outcome]) =>
    Effect.gen(function* () {
      const { lines, received, say } = yield* makePeer()
      const fiber = yield* Effect.forkChild(lines.transport.request(call))
      yield* TestClock.adjust(0)
      yield* say(`[${members}]\n`)
      yield* TestClock.adjust(0)
      const response = fiber.pollUnsafe()
      assert.isDefined(response, "the call still waits")
      const answer = yield* Fiber.join(fiber)
      assert.strictEqual("error" in answer ? answer.error.message : "succeeded", outcome)
      assert.strictEqual(received.includes("answer to ping\n"), members?.includes("ping") === true)
    }),
  )

  it.effect("L13 a long message that does not say which call it is for is logged once", () =>
    Effect.gen(function* () {
      const { logged, logger } = logs()
      yield* Effect.gen(function* () {
        const { say } = yield* makePeer({ maxLineBytes: 100 })
        const line = `[{"id":1,"result":{"text":"${"x".repeat(100)}"}}]\n`
        yield* say(line + line)
        yield* TestClock.adjust(0)
      }).pipe(Effect.provide(logger))
      assert.lengthOf(logged, 1)
      assert.match(
        logged.join(),
        /^Warn a message of a tool server was ignored, .*the limit is 100/,
      )
    }),
  )

  it.effect("L1 L13 a result after 10,000 requests is read while the server reads nothing", () =>
    Effect.gen(function* () {
      const { lines, say } = yield* makePeer({ reads: false })
      const fiber = yield* Effect.forkChild(lines.transport.request(call))
      yield* TestClock.adjust(0)
      yield* say('{"jsonrpc":"2.0","id":"r","method":"ping"}\n'.repeat(10_000))
      yield* say('{"id":1,"result":{"content":[]}}\n')
      assert.deepNestedInclude(yield* Fiber.join(fiber), { "result.content": [] })
      assert.isFalse(lines.isOver())
    }),
  )

  it.effect.each([
    ["many", "p", 20_000],
    ["large", "p".repeat(100_000), 20],
  ] as const)(
    "L1 L13 %s responses that the server does not read end the connection, with the limit",
    ([, id, count]) =>
      Effect.gen(function* () {
        const { lines, say } = yield* makePeer({
          answering: ({ id }) => JSON.stringify(id),
          reads: false,
        })
        const fiber = yield* Effect.forkChild(messageOf(lines.transport.request(call)))
        yield* TestClock.adjust(0)
        yield* say(`${JSON.stringify({ id, method: "ping" })}\n`.repeat(count))
        assert.strictEqual(
          yield* Fiber.join(fiber),
          "stopped: it sends requests and does not read more than 1 MiB or 16384 messages of responses",
        )
      }),
  )

  it.effect("L13 the bytes and the messages that belong to no call are counted as documented", () =>
    Effect.gen(function* () {
      const counted = (line: string) => encoder.encode(line).length + 512
      for (const line of ["\n", "é\n", '{"method":"n"}\n']) {
        const { lines, say } = yield* makePeer()
        const most = Math.floor((32 * 1024 * 1024) / counted(line))
        const fiber = yield* Effect.forkChild(lines.transport.request(call))
        yield* TestClock.adjust(0)
        yield* say(line.repeat(most))
        yield* say('{"id":1,"result":{"content":[]}}\n')
        yield* Fiber.join(fiber)
        assert.isFalse(lines.isOver(), line)
        yield* say(line)
        assert.strictEqual(yield* lines.ended, tooMuch)
      }
    }),
  )
})
