/** Protocol edge cases over stdio that the conformance suite does not test and other servers handle wrongly. */
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Lines from "@colloquy/transport-stdio/Lines"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as McpServer from "../src/McpServer.ts"
import { responses } from "./support/Asking.ts"
import {
  defaultAnswer,
  defaultReply,
  type Harness,
  toolCall,
  withCore,
  withServer,
} from "./support/Harness.ts"
import { textOf, typesOf } from "./support/Wire.ts"

/** Writes bytes as the pipe of a client does, through the reader of lines. */
const writing = (server: Harness, maxBytes?: number) => {
  const lines = Lines.make(maxBytes)
  return (text: string) =>
    Effect.orDie(
      Effect.forEach(lines.push(new TextEncoder().encode(text)), server.connection.inject, {
        discard: true,
      }),
    )
}

/** The responses to each line: the ids and codes, in order; `ok` for a result. */
const answersTo = (...lines: ReadonlyArray<string>) =>
  withServer({}, (server) =>
    Effect.gen(function* () {
      yield* writing(server)(lines.map((line) => `${line}\n`).join(""))
      yield* server.ask("alive", "ping")
      return server.messages.flatMap(({ error, id }) =>
        id === "alive" ? [] : [[id, error?.code ?? "ok"]],
      )
    }),
  )

const ping = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`
const ended = (server: Harness) => server.server.pollUnsafe() !== undefined
const hanging = [Script.reply(Script.bareDeltas("a"), Script.hang)]

describe("Protocol edge cases: stdio", () => {
  it.effect(
    "malformed line, bad envelope, params wrong type: -32700/-32600, id null or echoed",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          yield* answersTo('{"jsonrpc":"2.0","id":1,"method":"ping"', "nonsense"),
          [
            [null, -32700],
            [null, -32700],
          ],
        )
        assert.deepStrictEqual(
          yield* answersTo('{"jsonrpc":"2.0"}', '"ping"', "5", "null", '{"id":2,"method":7}'),
          [
            [null, -32600],
            [null, -32600],
            [null, -32600],
            [null, -32600],
            [2, -32600],
          ],
        )
        assert.deepStrictEqual(
          yield* answersTo(
            '{"jsonrpc":"2.0","id":3,"method":"ping","params":"x"}',
            '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":7}',
            '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":7}}',
          ),
          [
            [3, -32600],
            [4, -32600],
            [5, -32602],
          ],
        )
      }),
  )

  it.effect("batch: -32600", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* answersTo("[]", `[${ping("1")},${ping("2")}]`), [
        [null, -32600],
        [null, -32600],
      ])
    }),
  )

  it.effect("id null / 1.5 / {}: -32600", () =>
    Effect.gen(function* () {
      const ids = ["null", "1.5", "{}", "[]", "true", "1e400"]
      assert.deepStrictEqual(
        yield* answersTo(...ids.map(ping)),
        // A number is a valid id of JSON-RPC, so the client can find the error by it.
        ids.map((id) => [id === "1.5" ? 1.5 : null, -32600]),
      )
    }),
  )

  it.effect("id 2^53+1: never rounded; returned digit by digit, as by the original", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* writing(server)(`${ping("9007199254740993")}\n${ping("-9007199254740993")}\n`)
        yield* server.quiet
        assert.deepStrictEqual(server.texts, [
          '{"jsonrpc":"2.0","id":9007199254740993,"result":{}}',
          '{"jsonrpc":"2.0","id":-9007199254740993,"result":{}}',
        ])
      }),
    ),
  )

  it.effect("same id twice: the second is refused, and the first is answered once", () =>
    withServer({ script: [Script.reply(Script.delay(50), Script.text("the first"))] }, (server) =>
      Effect.gen(function* () {
        yield* server.send(
          toolCall(1, "codex", { prompt: "x" }),
          toolCall(1, "codex", { prompt: "y" }),
        )
        yield* server.quiet
        yield* TestClock.adjust(50)
        yield* server.quiet
        const [refused] = responses(server, null)
        assert.strictEqual(refused?.error?.code, -32600)
        const [first, ...more] = responses(server, 1)
        assert.strictEqual(textOf(first ?? {}), "the first")
        assert.deepStrictEqual(more, [])
      }),
    ),
  )

  it.effect("unknown tool: -32602", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        for (const name of ["no-such-tool", "", "__proto__", "Codex"]) {
          const { error } = yield* server.call(`of ${name}`, name, {})
          assert.strictEqual(error?.code, -32602)
        }
      }),
    ),
  )

  it.effect("EOF idle: the server ends", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* server.call(1, "codex", { prompt: "x" })
        yield* server.connection.close
        yield* server.quiet
        assert.isTrue(ended(server))
      }),
    ),
  )

  it.effect("EOF during a call: the call is aborted and answered, then the server ends", () =>
    withServer({ script: hanging }, (server) =>
      Effect.gen(function* () {
        yield* server.send(toolCall(1, "codex", { prompt: "x" }))
        yield* server.quiet
        yield* server.connection.close
        yield* server.quiet
        yield* TestClock.adjust("500 millis")
        yield* server.quiet
        assert.isTrue(ended(server))
        assert.strictEqual(typesOf(server.messages, 1).at(-1), "turn_aborted")
        assert.deepStrictEqual(
          responses(server, 1).map(({ error }) => error?.code),
          [-32000],
        )
        assert.deepStrictEqual(yield* server.provider.closed, [0])
      }),
    ),
  )

  it.effect("client closes stdout: the server ends, and releases the model", () =>
    withServer({ script: hanging }, (server) =>
      Effect.gen(function* () {
        yield* server.send(toolCall(1, "codex", { prompt: "x" }))
        yield* server.quiet
        yield* server.connection.drop
        for (let i = 0; i < 10; i++) {
          yield* TestClock.adjust("500 millis")
          yield* server.quiet
        }
        yield* Fiber.join(server.server)
        assert.deepStrictEqual(yield* server.provider.closed, [0])
      }),
    ),
  )

  it.effect("line > limit: -32600, keep going", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* writing(server, 1000)(`${ping(`"${"x".repeat(2000)}"`)}\n${ping("1")}\n`)
        yield* server.quiet
        assert.deepStrictEqual(server.messages, [
          {
            jsonrpc: "2.0",
            id: "x".repeat(2000),
            error: {
              code: -32600,
              message: "Invalid Request: a line of 2041 bytes, the limit is 1000",
            },
          },
          { jsonrpc: "2.0", id: 1, result: {} },
        ])
      }),
    ),
  )

  it.effect(
    "1500 x 64 KB unread: bounded, stops reading, and answers all when the client reads again",
    () =>
      withCore([], () =>
        Effect.gen(function* () {
          const [client, serverSide] = yield* memoryPair(8)
          yield* Effect.forkChild(McpServer.serve(serverSide, { maxInFlight: 64 }), {
            startImmediately: true,
          })
          const filler = "x".repeat(64 * 1024)
          let written = 0
          const writer = yield* Effect.forkChild(
            Effect.forEach(
              Array.from({ length: 1500 }, (_, id) =>
                JSON.stringify({ id, method: `no/${filler}` }),
              ),
              (text) => Effect.tap(client.send([text]), () => Effect.sync(() => written++)),
              { discard: true },
            ),
            { startImmediately: true },
          )
          for (let i = 0; i < 5000; i++) yield* Effect.yieldNow
          // The requests that wait for a response, and the texts in the pipes of both directions.
          assert.isBelow(written, 64 + 4 * 8)
          let read = 0
          while (read < 1500) read += (yield* client.receive).length
          yield* Fiber.join(writer)
          assert.strictEqual(read, 1500)
        }),
      ),
  )

  it.effect("logs by default: never among the frames", () =>
    withServer({ script: [Script.status(500), defaultReply] }, (server) =>
      Effect.gen(function* () {
        yield* writing(server)(
          `nonsense\n{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}\n`,
        )
        yield* server.call(1, "codex", { prompt: "x" })
        const ok = yield* server.call(2, "codex", { prompt: "x" })
        assert.strictEqual(textOf(ok), defaultAnswer)
        for (const text of server.texts) {
          const { jsonrpc } = JSON.parse(text) as { readonly jsonrpc: unknown }
          assert.strictEqual(jsonrpc, "2.0")
        }
      }),
    ),
  )
})
