/** Tests that a defect in any stage of the exchange with a tool server fails one call or is logged, and no more. */
import type * as JsonRpcModule from "@colloquy/protocol/JsonRpc"
import type * as HandshakeModule from "../../src/mcp/Handshake.ts"
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
import { vi } from "vitest"
import * as UnsolicitedLimit from "../../src/mcp/UnsolicitedLimit.ts"
import * as LineTransport from "../../src/mcp/LineTransport.ts"

const fails = (): never => {
  throw new TypeError("a defect")
}

vi.mock("@colloquy/protocol/JsonRpc", async (load) => {
  const original = await load<typeof JsonRpcModule>()
  const parseFrame = (text: string) =>
    text.includes("BREAK PARSE") ? fails() : original.parseFrame(text)
  return { ...original, parseFrame }
})

vi.mock("../../src/mcp/Handshake.ts", async (load) => {
  const original = await load<typeof HandshakeModule>()
  const incoming = (method: string, result: unknown) =>
    JSON.stringify(result).includes("BREAK RESULT") ? fails() : original.incoming(method, result)
  const outgoing: typeof original.outgoing = (method, params) =>
    JSON.stringify(params).includes("BREAK PARAMS") ? fails() : original.outgoing(method, params)
  return { ...original, incoming, outgoing }
})

const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: {} } as const

const stage = (incoming?: Stream.Stream<Uint8Array>) =>
  Effect.gen(function* () {
    const toClient = yield* Queue.unbounded<Uint8Array, Cause.Done>()
    const received: Array<string> = []
    const lines = yield* LineTransport.make({
      incoming: incoming ?? Stream.fromQueue(toClient),
      outgoing: Sink.forEach((bytes) =>
        Effect.sync(() => {
          const text = new TextDecoder().decode(bytes)
          if (text.includes("BREAK WRITE")) fails()
          received.push(text)
        }),
      ),
      answering: fails,
      gauge: UnsolicitedLimit.make(0),
      describe: (ending) => Effect.succeed(ending._tag === "Stopped" ? ending.why : "closed"),
    })
    const say = (text: string) => Queue.offer(toClient, new TextEncoder().encode(`${text}\n`))
    const ask = (id: number, params: Record<string, unknown> = {}) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(
          Effect.match(lines.transport.request({ ...call, id, params }), {
            onFailure: ({ message }: McpClientError) => message,
            onSuccess: (response) => ("error" in response ? response.error : "succeeded"),
          }),
        )
        yield* TestClock.adjust(0)
        return fiber
      })
    return { lines, received, say, ask }
  })

const logs = () => {
  const logged: Array<string> = []
  const one = Logger.make(({ logLevel, message }) => {
    logged.push(`${logLevel} ${[message].flat().map(String).join(" ")}`)
  })
  return { logged, logger: Logger.layer([one]) }
}

type Stage = Effect.Success<ReturnType<typeof stage>>

/** Makes one call in which a defect occurs, then one that must succeed. */
const meets = (
  fault: (here: Stage) => Effect.Effect<unknown, unknown>,
  expected: readonly [outcome: unknown, log: RegExp],
) =>
  Effect.gen(function* () {
    const { logged, logger } = logs()
    yield* Effect.gen(function* () {
      const here = yield* stage()
      assert.deepStrictEqual<unknown>(yield* fault(here), expected[0])
      const next = yield* here.ask(2)
      yield* here.say('{"id":2,"result":{"content":[]}}')
      assert.strictEqual(yield* Fiber.join(next), "succeeded")
      assert.isFalse(here.lines.isOver())
    }).pipe(Effect.provide(logger))
    assert.match(logged.join("\n"), expected[1])
  })

describe("LineTransport: a defect while one message is handled", () => {
  it.effect("L13 in parsing fails the call that the line responds to, at once", () =>
    meets(
      (here) =>
        Effect.gen(function* () {
          const fiber = yield* here.ask(1)
          yield* here.say('{"result":{"text":"BREAK PARSE"},"id":1}')
          return yield* Fiber.join(fiber)
        }),
      ["its response could not be read", /^Error a message of a tool server could not be read/],
    ),
  )

  it.effect("L13 in parsing a notification costs a line in the log", () =>
    meets(
      (here) => here.say('{"method":"BREAK PARSE"}'),
      [true, /^Error a message of a tool server could not be read/],
    ),
  )

  it.effect("L13 in reading a result fails its call, at once", () =>
    meets(
      (here) =>
        Effect.gen(function* () {
          const fiber = yield* here.ask(1)
          yield* here.say('{"id":1,"result":{"text":"BREAK RESULT"}}')
          return yield* Fiber.join(fiber)
        }),
      ["an internal error", /^Error a call of a tool server failed .*a defect/],
    ),
  )

  it.effect("L13 in writing a call fails that call, at once", () =>
    meets(
      (here) => Effect.flatMap(here.ask(1, { text: "BREAK PARAMS" }), Fiber.join),
      ["an internal error", /^Error a call of a tool server failed .*a defect/],
    ),
  )

  it.effect("L1 L13 in answering a request of the server gives it an internal error", () =>
    meets(
      (here) =>
        Effect.gen(function* () {
          yield* here.say('{"id":"p","method":"ping"}')
          yield* TestClock.adjust(0)
          return here.received
        }),
      [
        ['{"jsonrpc":"2.0","id":"p","error":{"code":-32603,"message":"Internal error"}}\n'],
        /^Error a request of a tool server failed .*a defect/,
      ],
    ),
  )

  it.effect.each(["reading", "writing"])(
    "L13 in the %s of all messages ends the connection, and every call with it",
    (which) =>
      Effect.gen(function* () {
        const { logged, logger } = logs()
        yield* Effect.gen(function* () {
          const here = yield* stage(
            which === "reading" ? Stream.fromEffect(Effect.sync(fails)) : undefined,
          )
          const fiber = yield* here.ask(1, { text: "BREAK WRITE" })
          assert.strictEqual(
            yield* Fiber.join(fiber),
            which === "reading" ? "its output could not be read" : "its input could not be written",
          )
          assert.isTrue(here.lines.isOver())
        }).pipe(Effect.provide(logger))
        assert.match(logged.join("\n"), /^Error a tool server's connection failed/)
      }),
  )
})
