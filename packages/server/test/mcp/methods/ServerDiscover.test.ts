import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { initialize } from "../../support/Asking.ts"
import { featureCapabilities } from "../../support/Capabilities.ts"
import { withServer } from "../../support/Harness.ts"
import { madeBy, saying } from "../../support/Stateless.ts"

const discovered = (id: unknown, more: unknown = {}) => ({
  jsonrpc: "2.0",
  id,
  result: {
    resultType: "complete",
    ttlMs: 3_600_000,
    cacheScope: "public",
    supportedVersions: ["2026-07-28"],
    capabilities: {
      ...featureCapabilities,
      extensions: { "io.modelcontextprotocol/tasks": {}, "colloquy/codex-event": {} },
      experimental: { "codex/event": {} },
    },
    _meta: madeBy,
  },
  ...(more as object),
})

describe("server/discover", () => {
  it.effect("is answered at once, before any initialize, and again after one", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* server.ask(1, "server/discover", saying()), discovered(1))
        yield* server.send(initialize({}))
        assert.strictEqual((yield* server.response("i")).result?.["protocolVersion"], "2025-11-25")
        assert.deepStrictEqual(yield* server.ask("2", "server/discover", saying()), discovered("2"))
      }),
    ),
  )

  it.effect("declares only the events that the server is configured for", () =>
    withServer({ events: "off" }, (server) =>
      Effect.gen(function* () {
        const { result } = yield* server.ask(1, "server/discover", saying())
        assert.deepStrictEqual(result?.["capabilities"], {
          ...featureCapabilities,
          extensions: { "io.modelcontextprotocol/tasks": {} },
        })
      }),
    ),
  )

  it.effect("without `_meta` names what is missing, and the supported revisions", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* server.ask(1, "server/discover"), {
          jsonrpc: "2.0",
          id: 1,
          error: {
            code: -32602,
            message:
              'Invalid params: params._meta["io.modelcontextprotocol/protocolVersion"]: expected a string',
            data: { supported: ["2026-07-28"] },
          },
        })
      }),
    ),
  )
})
