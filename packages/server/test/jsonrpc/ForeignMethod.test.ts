import { otherDialectOf } from "@colloquy/protocol/Dialects"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as AppServer from "../../src/AppServer.ts"
import { withLazyDialect } from "../../src/LazyDialect.ts"
import type { FindDialect } from "../../src/jsonrpc/ForeignMethod.ts"
import { initialize } from "../support/Asking.ts"
import { noPorts, withServer } from "../support/Harness.ts"
import { saying } from "../support/Stateless.ts"

const finding =
  (spoken: string): FindDialect =>
  (method) =>
    Effect.sync(() => otherDialectOf(method, spoken))

const find = finding("codex-mcp")

describe("a method of another dialect", () => {
  it.effect(
    "sent to an MCP server is refused with its dialect and the command that serves it",
    () =>
      withServer({ findDialect: find }, (server) =>
        Effect.gen(function* () {
          const expected = {
            code: -32601,
            message:
              "Method not found: newConversation; this connection speaks codex-mcp, and `newConversation` belongs to app-server, which `colloquy app-server` serves",
            data: {
              method: "newConversation",
              dialect: "codex-mcp",
              belongsTo: "app-server",
              command: "colloquy app-server",
            },
          }
          const before = yield* server.ask(1, "newConversation", {})
          assert.deepStrictEqual<unknown>(before.error, expected)
          yield* server.send(initialize({}))
          const after = yield* server.ask(2, "newConversation", {})
          assert.deepStrictEqual<unknown>(after.error, expected)
          const stateless = yield* server.ask(3, "newConversation", saying())
          assert.deepStrictEqual<unknown>(stateless.error, expected)
        }),
      ),
  )

  it.effect("of app-server v2 is refused as not served", () =>
    withServer({ findDialect: find }, (server) =>
      Effect.gen(function* () {
        const { error } = yield* server.ask(1, "thread/start", {})
        assert.deepStrictEqual<unknown>(error, {
          code: -32601,
          message:
            "Method not found: thread/start; this connection speaks codex-mcp, and `thread/start` belongs to app-server-v2, which this program does not serve",
          data: { method: "thread/start", dialect: "codex-mcp", belongsTo: "app-server-v2" },
        })
      }),
    ),
  )

  it.effect(
    "is refused as unknown when it belongs to no dialect, or to another revision of this one",
    () =>
      withServer({ findDialect: find }, (server) =>
        Effect.gen(function* () {
          for (const [id, method, params] of [
            [1, "no/such", {}],
            [2, "ping", saying()],
            [3, "notifications/initialized", {}],
          ] as const) {
            const { error } = yield* server.ask(id, method, params)
            assert.deepStrictEqual<unknown>(error, {
              code: -32601,
              message: `Method not found: ${method}`,
              data: { method },
            })
          }
        }),
      ),
  )

  it.effect(
    "is served when the server has it in addition to MCP, and explained when neither has it",
    () =>
      withServer(
        {
          beside: withLazyDialect(AppServer.beside(), find),
          findDialect: find,
        },
        (server) =>
          Effect.gen(function* () {
            for (const id of ["first", "again"]) {
              const { error } = yield* server.ask(id, "thread/start", {})
              assert.include(error?.message, "belongs to app-server-v2")
            }
            const { result } = yield* server.ask(3, "getUserAgent")
            assert.isString(result?.["userAgent"])
          }),
      ),
  )

  it.effect("of app-server v2 that is not supported is refused with the reason", () =>
    withServer({ findDialect: find }, (server) =>
      Effect.gen(function* () {
        const { error } = yield* server.ask(1, "thread/goal/get", { threadId: "x" })
        const reason = "the agent has no memories, goals, predictions, automatic reviewer and voice"
        assert.deepStrictEqual<unknown>(error, {
          code: -32601,
          message: `Method not found: thread/goal/get; \`thread/goal/get\` of app-server-v2 is not supported: ${reason}`,
          data: {
            method: "thread/goal/get",
            dialect: "codex-mcp",
            belongsTo: "app-server-v2",
            reason,
          },
        })
      }),
    ),
  )

  it.effect(
    "sent to an app-server is refused with its dialect and the command that serves it",
    () =>
      withServer(
        {
          serve: (connection) =>
            Effect.provide(
              AppServer.serve(connection, { findDialect: finding("app-server") }),
              noPorts,
            ),
        },
        (server) =>
          Effect.gen(function* () {
            const { error } = yield* server.ask(1, "tools/list", {})
            assert.deepStrictEqual<unknown>(error, {
              code: -32600,
              message:
                "Invalid request: unknown method `tools/list`; this connection speaks app-server, and `tools/list` belongs to codex-mcp, which `colloquy mcp` serves",
              data: {
                method: "tools/list",
                dialect: "app-server",
                belongsTo: "codex-mcp",
                command: "colloquy mcp",
              },
            })
            const near = yield* server.ask(2, "newConversatoin", {})
            assert.strictEqual(
              near.error?.message,
              "Invalid request: unknown method `newConversatoin`, did you mean `newConversation`?",
            )
          }),
      ),
  )
})
