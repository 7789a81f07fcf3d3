import { LoggingLevel } from "@colloquy/protocol/mcp/Logging"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { tool } from "../../../src/features/Tool.ts"
import { codeOf, initialized, noticesOf, stateless, withFeatures } from "../../support/Featuring.ts"

const chatty = tool({
  name: "chatty",
  run: (_, { log }) =>
    Effect.as(
      Effect.forEach(LoggingLevel.literals, (level) => log(level, { at: level }, "test")),
      "said",
    ),
})

const levels = (notices: ReturnType<typeof noticesOf>) =>
  notices.map(
    ({ params }: { readonly params?: Readonly<Record<string, unknown>> }) => params?.["level"],
  )

describe("logging/setLevel", () => {
  it.effect("a connection receives messages of that level and more severe ones from then on", () =>
    withFeatures({ tools: [chatty] }, (server) =>
      Effect.gen(function* () {
        yield* initialized(server)
        assert.deepStrictEqual(
          (yield* server.ask(1, "logging/setLevel", { level: "error" })).result,
          {},
        )
        yield* server.call(2, "chatty")
        assert.deepStrictEqual(levels(noticesOf(server)), [
          "error",
          "critical",
          "alert",
          "emergency",
        ])
        assert.deepStrictEqual(noticesOf(server)[0], {
          method: "notifications/message",
          params: { level: "error", logger: "test", data: { at: "error" } },
        })
        yield* server.ask(3, "logging/setLevel", { level: "emergency" })
        yield* server.call(4, "chatty")
        assert.deepStrictEqual(levels(noticesOf(server)).slice(4), ["emergency"])
      }),
    ),
  )

  it.effect("another connection keeps its own level", () =>
    withFeatures({ tools: [chatty] }, (server) =>
      Effect.gen(function* () {
        yield* initialized(server)
        const other = yield* server.another
        yield* initialized(other)
        yield* server.ask(1, "logging/setLevel", { level: "emergency" })
        yield* other.ask(1, "logging/setLevel", { level: "debug" })
        yield* server.call(2, "chatty")
        yield* other.call(2, "chatty")
        assert.lengthOf(noticesOf(server), 1)
        assert.lengthOf(noticesOf(other), 8)
      }),
    ),
  )

  it.effect("refuses an unknown level, and is not a method without a handshake", () =>
    withFeatures({}, (server) =>
      Effect.gen(function* () {
        yield* initialized(server)
        for (const [id, params] of [{ level: "loud" }, { level: 3 }, {}].entries()) {
          assert.strictEqual(codeOf(yield* server.ask(id, "logging/setLevel", params)), -32602)
        }
        const { error } = yield* server.ask(9, "logging/setLevel", stateless({ level: "debug" }))
        assert.strictEqual(error?.code, -32601)
      }),
    ),
  )
})
