import { ModelClient, type ModelEvent, type ModelProvider } from "@colloquy/core/ModelClient"
import { providerDefaults } from "@colloquy/models/Providers"
import { ConversationId } from "@colloquy/protocol/Ids"
import * as MockProvider from "@colloquy/testing/MockProvider"
import {
  bareDeltas,
  byLastUserText,
  drop,
  hang,
  manyDeltas,
  refuse,
  reply,
  silence,
  status,
  text,
} from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Net from "node:net"
import * as HttpModels from "../../src/machine/HttpModels.ts"
import * as NodeHttp from "../../src/machine/NodeHttp.ts"

const prefix = "stream disconnected before completion: "

const ask = (
  model: Context.Service.Shape<typeof ModelClient>,
  baseUrl: string,
  said: string,
  overrides: Partial<ModelProvider> = {},
): Stream.Stream<ModelEvent, { readonly message: string }> =>
  model.stream({
    conversationId: ConversationId.make("019b2f00-0000-7000-8000-000000000000"),
    provider: {
      ...providerDefaults,
      id: "mock",
      name: "Mock",
      wire: "responses",
      baseUrl,
      requestMaxRetries: 0,
      streamMaxRetries: 0,
      ...overrides,
    },
    model: "m",
    instructions: "\u2026",
    input: [{ type: "message", role: "user", content: [{ type: "input_text", text: said }] }],
    tools: [],
  })

const makeModel = Effect.map(Layer.build(HttpModels.layer({})), (services) =>
  Context.get(services, ModelClient),
)

const script = byLastUserText([
  ["many", reply(manyDeltas("word ", 30_000))],
  ["drop", reply(bareDeltas("par"), drop)],
  ["refuse", refuse],
  ["hang", reply(bareDeltas("par"), hang)],
  ["silence", silence],
  ["busy", status(503, { body: "x".repeat(100_000) })],
  ["", reply(text("ok"))],
])

const completed = `data: ${JSON.stringify({ type: "response.completed", response: { id: "r" } })}\n\n`
const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"

/** A provider that answers the n-th request with exactly these bytes. `close`: ends the connection after them. */
const rawProvider = (
  answers: ReadonlyArray<{ readonly bytes: string; readonly close?: boolean }>,
) =>
  Effect.gen(function* () {
    const sockets = new Set<Net.Socket>()
    const unconnected = Latch.makeUnsafe(false)
    let requests = 0
    let connections = 0
    const server = Net.createServer((socket) => {
      connections++
      sockets.add(socket)
      let received = ""
      socket.on("error", () => socket.destroy())
      socket.on("close", () => {
        sockets.delete(socket)
        if (sockets.size === 0) unconnected.openUnsafe()
      })
      socket.on("data", (bytes) => {
        received += bytes.toString("latin1")
        const at = received.indexOf("\r\n\r\n")
        const length = Number(/content-length: (\d+)/i.exec(received)?.[1])
        if (at === -1 || received.length < at + 4 + length) return
        received = ""
        const answer = answers[requests++]
        if (answer === undefined) return
        socket.write(answer.bytes, "latin1")
        if (answer.close === true) socket.end()
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          server.close()
          for (const socket of sockets) socket.destroy()
        }),
    )
    const address = server.address()
    const port = typeof address === "object" ? address?.port : undefined
    return {
      baseUrl: `http://127.0.0.1:${port}/v1`,
      connections: () => connections,
      awaitUnconnected: unconnected.await,
    }
  })

const chunk = (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`
const chunked = `${head}transfer-encoding: chunked\r\n\r\n${chunk(completed)}0\r\n\r\n`
const sized = `${head}content-length: ${completed.length}\r\n\r\n${completed}`

describe("requests on node:http", () => {
  it.live("deliver all of 30,000 deltas, many to an array", () =>
    Effect.gen(function* () {
      const mock = yield* MockProvider.make(script)
      const model = yield* makeModel
      const sizes: Array<number> = []
      yield* Stream.runForEachArray(ask(model, mock.baseUrl, "many"), (array) =>
        Effect.sync(() => sizes.push(array.length)),
      )
      assert.strictEqual(
        sizes.reduce((sum, size) => sum + size, 0),
        30_002,
      )
      assert.isBelow(sizes.length, 1000)
      assert.deepStrictEqual(yield* mock.closed, [])
    }),
  )

  it.live("L6 hold a bounded part of a body that is read slowly, and lose none of it", () =>
    Effect.gen(function* () {
      const mock = yield* MockProvider.make(script)
      const http = yield* NodeHttp.make
      const exchange = yield* http.post({
        url: new URL(`${mock.baseUrl}/responses`),
        headers: { "content-type": "application/json" },
        body: new TextEncoder().encode(
          JSON.stringify({ input: [{ role: "user", content: [{ text: "many" }] }] }),
        ),
      })
      yield* exchange.head
      let most = 0
      let bytes = 0
      for (;;) {
        const chunks = yield* exchange.read
        if (chunks === undefined) break
        const size = chunks.reduce((sum, { length }) => sum + length, 0)
        most = Math.max(most, size)
        bytes += size
        yield* Effect.sleep("1 millis")
      }
      assert.isAbove(bytes, 1_000_000)
      assert.isAtMost(most, 64 * 1024 + 64 * 1024)
    }),
  )

  it.live("L14 are closed by an interruption, before and during streaming", () =>
    Effect.gen(function* () {
      const mock = yield* MockProvider.make(script)
      const model = yield* makeModel
      const begun = yield* Deferred.make<void>()
      const streaming = yield* Effect.forkChild(
        Stream.runForEach(ask(model, mock.baseUrl, "hang"), () =>
          Deferred.succeed(begun, undefined),
        ),
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(streaming)
      yield* mock.awaitClosed(0)
      const waiting = yield* Effect.forkChild(Stream.runDrain(ask(model, mock.baseUrl, "silence")))
      yield* mock.awaitRequest(1)
      yield* Fiber.interrupt(waiting)
      yield* mock.awaitClosed(1)
      assert.deepStrictEqual(yield* mock.closed, [0, 1])
    }),
  )

  it.live("end and are closed when the provider is silent for too long", () =>
    Effect.gen(function* () {
      const mock = yield* MockProvider.make(script)
      const model = yield* makeModel
      const short = { streamIdleTimeout: Duration.millis(50) }
      for (const [index, said] of ["silence", "hang"].entries()) {
        const error = yield* Effect.flip(Stream.runDrain(ask(model, mock.baseUrl, said, short)))
        assert.strictEqual(error.message, `${prefix}idle timeout waiting for SSE`)
        yield* mock.awaitClosed(index)
      }
    }),
  )

  it.live("report a lost connection, before the head and after it, and a status", () =>
    Effect.gen(function* () {
      const mock = yield* MockProvider.make(script)
      const model = yield* makeModel
      const messages = yield* Effect.forEach(["refuse", "drop", "busy"], (said) =>
        Effect.map(Effect.flip(Stream.runDrain(ask(model, mock.baseUrl, said))), (e) => e.message),
      )
      assert.deepStrictEqual(messages, [
        `${prefix}error sending request for url (${mock.baseUrl}/responses): ECONNRESET`,
        `${prefix}Transport error: error decoding response body`,
        "exceeded retry limit, last status: 503 Service Unavailable",
      ])
    }),
  )

  it.live("report a refused connection and a failed TLS handshake at once, with the address", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* Effect.scoped(MockProvider.make(script))
      const model = yield* makeModel
      const refused = yield* Effect.flip(Stream.runDrain(ask(model, baseUrl, "")))
      assert.strictEqual(
        refused.message,
        `cannot connect to the model provider at ${baseUrl}/responses: connection refused (ECONNREFUSED)`,
      )
      const plain = yield* MockProvider.make(script)
      const secure = plain.baseUrl.replace("http:", "https:")
      const untrusted = yield* Effect.flip(Stream.runDrain(ask(model, secure, "")))
      assert.match(
        untrusted.message,
        new RegExp(`^cannot connect to the model provider at ${secure}/responses: the TLS`),
      )
    }),
  )

  it.live("reuse the connection after an answer with either kind of length", () =>
    Effect.gen(function* () {
      const { baseUrl, connections } = yield* rawProvider([
        { bytes: chunked },
        { bytes: sized },
        { bytes: sized },
      ])
      const model = yield* makeModel
      for (let i = 0; i < 3; i++) yield* Stream.runDrain(ask(model, baseUrl, ""))
      assert.strictEqual(connections(), 1)
    }),
  )

  it.live("read a body that only the end of the connection ends, and connect again", () =>
    Effect.gen(function* () {
      const { baseUrl, connections } = yield* rawProvider([
        { bytes: `${head}connection: close\r\n\r\n${completed}`, close: true },
        { bytes: sized },
      ])
      const model = yield* makeModel
      for (let i = 0; i < 2; i++) yield* Stream.runDrain(ask(model, baseUrl, ""))
      assert.strictEqual(connections(), 2)
    }),
  )

  it.live("close a connection whose complete answer has no end, and connect again", () =>
    Effect.gen(function* () {
      const { baseUrl, connections } = yield* rawProvider([
        { bytes: `${head}transfer-encoding: chunked\r\n\r\n${chunk(completed)}` },
        { bytes: sized },
      ])
      const model = yield* makeModel
      for (let i = 0; i < 2; i++) yield* Stream.runDrain(ask(model, baseUrl, ""))
      assert.strictEqual(connections(), 2)
    }),
  )

  it.live("fail when the connection ends before the body", () =>
    Effect.gen(function* () {
      const part = `data: ${JSON.stringify({ type: "response.output_text.delta", delta: "a" })}\n\n`
      const answers = [
        { bytes: `${head}content-length: 1000\r\n\r\n${part}`, close: true },
        { bytes: `${head}transfer-encoding: chunked\r\n\r\n${chunk(part)}`, close: true },
      ]
      const { baseUrl } = yield* rawProvider(answers)
      const model = yield* makeModel
      for (const _ of answers) {
        const error = yield* Effect.flip(Stream.runDrain(ask(model, baseUrl, "")))
        assert.strictEqual(error.message, `${prefix}Transport error: error decoding response body`)
      }
    }),
  )

  it.live("L13 fail with the status of an upgrade, and with what is not HTTP", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* rawProvider([
        { bytes: "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n" },
        { bytes: "garbage\r\n\r\n", close: true },
        { bytes: sized },
      ])
      const model = yield* makeModel
      const messages: Array<string> = []
      for (let i = 0; i < 2; i++) {
        messages.push((yield* Effect.flip(Stream.runDrain(ask(model, baseUrl, "")))).message)
      }
      assert.deepStrictEqual(messages, [
        "unexpected status 101 <unknown status code>: ",
        `${prefix}error sending request for url (${baseUrl}/responses): HPE_INVALID_CONSTANT`,
      ])
      yield* Stream.runDrain(ask(model, baseUrl, ""))
    }),
  )

  it.live("keep a complete answer that comes in one packet with what is not HTTP", () =>
    Effect.gen(function* () {
      const broken = `${head}transfer-encoding: chunked\r\n\r\n${chunk(completed)}zz`
      const { baseUrl } = yield* rawProvider([{ bytes: `${sized}garbage` }, { bytes: broken }])
      const model = yield* makeModel
      for (let i = 0; i < 2; i++) {
        const events = yield* Stream.runCollect(ask(model, baseUrl, ""))
        assert.deepStrictEqual(events, [{ _tag: "Completed" }])
      }
    }),
  )

  it.live("continue after an informational response", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* rawProvider([
        { bytes: `HTTP/1.1 103 Early Hints\r\n\r\n${sized}` },
      ])
      const events = yield* Stream.runCollect(ask(yield* makeModel, baseUrl, ""))
      assert.deepStrictEqual(events, [{ _tag: "Completed" }])
    }),
  )

  it.live("L8 end with the layer: its unused connections are closed", () =>
    Effect.gen(function* () {
      const { awaitUnconnected, baseUrl, connections } = yield* rawProvider([{ bytes: sized }])
      yield* Effect.scoped(
        Effect.flatMap(makeModel, (model) => Stream.runDrain(ask(model, baseUrl, ""))),
      )
      yield* awaitUnconnected
      assert.strictEqual(connections(), 1)
    }),
  )
})
