import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as AppServer from "../src/AppServer.ts"
import { withLazyDialect } from "../src/LazyDialect.ts"
import {
  errorOf,
  liveTurn,
  listening,
  created,
  outline,
  resultOf,
  say,
  typesOf,
} from "./support/AppHarness.ts"
import { asking, exec, initialize, oneCall } from "./support/Asking.ts"
import { type Harness, withServer } from "./support/Harness.ts"
import { callResult } from "./support/Wire.ts"

const atOnce = AppServer.beside({ userAgent: "colloquy/1" })

const questions = ({ messages }: Harness) =>
  messages.filter(({ id, method }) => method !== undefined && id !== undefined)

describe.each([
  ["there from the start", atOnce],
  ["loaded with the first request", withLazyDialect(atOnce)],
])("AppServer together with MCP, %s", (_, beside) => {
  it.effect("serves its requests before and after the `initialize` of MCP", () =>
    withServer({ beside }, (server) =>
      Effect.gen(function* () {
        const conversationId = yield* created(server)
        yield* server.send(initialize({}))
        const hello = resultOf(yield* server.response("i"))
        assert.strictEqual(hello["protocolVersion"], "2025-11-25")
        yield* listening(server, conversationId)
        yield* say(server, conversationId, "hi")
        yield* server.quiet
        assert.deepStrictEqual(outline(server), [
          "answer new",
          "answer i",
          "answer listen",
          "answer say",
          ...liveTurn,
        ])
        assert.isTrue(server.texts.every((text) => text.startsWith('{"jsonrpc":"2.0"')))
        resultOf(yield* server.ask("ping", "ping"))
        assert.deepStrictEqual(resultOf(yield* server.ask("ua", "getUserAgent")), {
          userAgent: "colloquy/1",
        })
      }),
    ),
  )

  it.effect("L9 at the end of input the turns that a listener follows run to their end", () =>
    withServer(
      { beside, script: () => Script.reply(Script.delay(400), Script.text("late")) },
      (server) =>
        Effect.gen(function* () {
          const conversationId = yield* created(server)
          yield* listening(server, conversationId)
          yield* say(server, conversationId, "hi")
          yield* server.connection.close
          yield* server.quiet
          yield* TestClock.adjust(400)
          yield* Fiber.join(server.server)
          yield* server.quiet
          assert.deepStrictEqual(typesOf(server), liveTurn)
        }),
    ),
  )

  it.effect("tools and requests see the same conversations", () =>
    withServer({ beside }, (server) =>
      Effect.gen(function* () {
        const result = callResult(yield* server.call(1, "codex", { prompt: "hi" }))
        const conversationId = result.structuredContent?.["threadId"]
        const state = yield* server.ask(2, "getConversation", { conversationId })
        assert.strictEqual(resultOf(state)["status"], "idle")
      }),
    ),
  )

  for (const [capabilities, member] of [
    [{}, "conversation_id"],
    [{ experimental: { approvals: "snake_case" } }, "conversation_id"],
    [{ experimental: { approvals: "camelCase" } }, "conversationId"],
    [{ experimental: { approvals: "loud" } }, "conversation_id"],
  ] as const) {
    it.effect(`a client that declares ${JSON.stringify(capabilities)} is asked by ${member}`, () =>
      withServer({ beside, script: oneCall, tools: asking([exec]).tools }, (server) =>
        Effect.gen(function* () {
          yield* server.send(initialize(capabilities))
          const conversationId = yield* created(server)
          yield* listening(server, conversationId)
          yield* say(server, conversationId, "hi")
          yield* server.quiet
          assert.strictEqual(questions(server)[0]?.params?.[member], conversationId)
          yield* server.ask("stop", "interruptConversation", { conversationId })
          yield* server.quiet
          const withdrawn = server.messages.filter(
            ({ method }) => method === "notifications/cancelled",
          )
          assert.deepStrictEqual(
            withdrawn.map(({ params }) => params?.["requestId"]),
            [questions(server)[0]?.id],
          )
        }),
      ),
    )
  }

  it.effect("L13 its errors have its own codes and texts, and those of MCP are unchanged", () =>
    withServer({ beside }, (server) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* server.ask(1, "sendUserMessage", {})), {
          code: -32600,
          message: "Invalid request: params.conversationId: Missing key; params.items: Missing key",
        })
        assert.strictEqual(errorOf(yield* server.ask(2, "tools/call", {})).code, -32602)
        assert.strictEqual(errorOf(yield* server.ask(3, "noSuchMethod", {})).code, -32601)
      }),
    ),
  )

  it.effect("without it the server has none of its methods", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        assert.strictEqual(errorOf(yield* server.ask(1, "newConversation", {})).code, -32601)
      }),
    ),
  )
})
