import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import {
  defaultAnswer,
  defaultReply,
  type Harness,
  toolCall,
  withServer,
  listed,
} from "./support/Harness.ts"
import { callResult, textOf, threadOf, typesOf } from "./support/Wire.ts"

const ended = (server: Harness) => server.server.pollUnsafe() !== undefined

const pass = (server: Harness, ms: number) =>
  Effect.gen(function* () {
    yield* server.quiet
    for (let left = ms; left > 0; left -= 100) {
      yield* TestClock.adjust(100)
      yield* server.quiet
    }
  })

const slow = (ms: number) =>
  Script.reply(Script.bareDeltas("a"), Script.delay(ms), Script.text("late answer"))

describe("McpServer", () => {
  it.effect("L9 ends at the end of input when no turn runs", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* server.call(1, "codex", { prompt: "x" })
        yield* server.connection.close
        yield* Fiber.join(server.server)
      }),
    ),
  )

  it.effect("L9 a turn that ends within the grace is answered after the end of input", () =>
    withServer({ script: [slow(300)] }, (server) =>
      Effect.gen(function* () {
        yield* server.send(toolCall(1, "codex", { prompt: "x" }))
        yield* server.quiet
        yield* server.connection.close
        yield* pass(server, 400)
        assert.strictEqual(textOf(yield* server.response(1)), "late answer")
        assert.isTrue(ended(server))
      }),
    ),
  )

  it.effect(
    "L9 a turn that does not end within the grace is stopped, its end delivered, its call answered with an error, and the model released",
    () =>
      withServer({ script: [Script.reply(Script.bareDeltas("a"), Script.hang)] }, (server) =>
        Effect.gen(function* () {
          yield* server.send(toolCall(1, "codex", { prompt: "x" }))
          yield* server.quiet
          yield* server.connection.close
          yield* pass(server, 600)
          assert.strictEqual(typesOf(server.messages, 1).at(-1), "turn_aborted")
          assert.deepStrictEqual(server.messages.at(-1), {
            jsonrpc: "2.0",
            id: 1,
            error: {
              code: -32000,
              message: "the server is shutting down; the request may have been carried out",
            },
          })
          assert.isTrue(ended(server))
          assert.deepStrictEqual(yield* server.provider.closed, [0])
        }),
      ),
  )

  it.effect("L9 the turns of a client end when its connection breaks", () =>
    withServer({ script: [Script.reply(Script.bareDeltas("a"), Script.hang)] }, (server) =>
      Effect.gen(function* () {
        yield* server.send(toolCall(1, "codex", { prompt: "x" }))
        yield* server.quiet
        yield* server.connection.drop
        yield* pass(server, 4000)
        assert.isTrue(ended(server))
        assert.deepStrictEqual(yield* server.provider.closed, [0])
      }),
    ),
  )

  it.effect("L9 a turn that finds its client disconnected is stopped", () =>
    withServer(
      {
        script: [
          Script.reply(
            Script.bareDeltas("a"),
            Script.delay(100),
            Script.bareDeltas("b"),
            Script.hang,
          ),
        ],
      },
      (server) =>
        Effect.gen(function* () {
          yield* server.send(toolCall(1, "codex", { prompt: "x" }))
          yield* server.quiet
          yield* server.connection.drop
          yield* pass(server, 200)
          assert.deepStrictEqual(yield* server.provider.closed, [0])
          assert.isTrue(ended(server))
        }),
    ),
  )

  it.effect("L9 interrupting the server stops its turns before it returns", () =>
    withServer({ script: [Script.reply(Script.bareDeltas("a"), Script.hang)] }, (server) =>
      Effect.gen(function* () {
        yield* server.send(toolCall(1, "codex", { prompt: "x" }))
        yield* server.quiet
        const interrupted = yield* Effect.forkChild(Fiber.interrupt(server.server), {
          startImmediately: true,
        })
        yield* pass(server, 1000)
        yield* Fiber.join(interrupted)
        assert.deepStrictEqual(yield* server.provider.closed, [0])
      }),
    ),
  )

  it.effect(
    "L6 a client that does not read stops only its own calls, and gets everything when it reads",
    () =>
      withServer(
        { script: [Script.reply(Script.manyDeltas("d", 3000)), defaultReply], capacity: 2 },
        (server) =>
          Effect.gen(function* () {
            const answer = yield* server.call(1, "codex", { prompt: "x" })
            assert.strictEqual(textOf(answer), "d".repeat(3000))
            assert.strictEqual(typesOf(server.messages, 1).at(-1), "task_complete")
          }),
      ),
  )

  it.effect("every connection has a separate session; conversations belong to the process", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const second = yield* server.another
        const init = {
          protocolVersion: "2025-06-18",
          capabilities: {},
          clientInfo: { name: "c", version: "1" },
        }
        for (const connection of [server, second]) {
          assert.isUndefined((yield* connection.ask(1, "initialize", init)).error)
        }
        const threadId = threadOf(yield* server.call(2, "codex", { prompt: "x" }))
        yield* server.connection.close
        yield* Fiber.join(server.server)
        const reply = yield* second.call(2, "codex-reply", { threadId, prompt: "y" })
        assert.strictEqual(textOf(reply), defaultAnswer)
        assert.notInclude(typesOf(second.messages, 2), "session_configured")
      }),
    ),
  )

  it.effect("1,000 invalid calls leave nothing behind", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        for (let id = 0; id < 1000; id++) {
          yield* server.send(toolCall(id, "codex", { prompt: "x", sandbox: `no${id}` }))
        }
        yield* server.response(999)
        assert.isTrue(server.messages.every((message) => callResult(message).isError === true))
        assert.deepStrictEqual(yield* listed(server.manager), [])
      }),
    ),
  )
})
