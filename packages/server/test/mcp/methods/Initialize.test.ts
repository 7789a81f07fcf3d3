import { protocolVersions } from "@colloquy/protocol/mcp/Initialize"
import { assert, describe, it } from "@effect/vitest"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { featureCapabilities } from "../../support/Capabilities.ts"
import { withServer } from "../../support/Harness.ts"

const params = (protocolVersion: unknown) => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
})

const decodeData = Schema.decodeUnknownSync(
  Schema.Struct({
    issues: Schema.Array(Schema.Struct({ path: Schema.Array(Schema.String) })),
  }),
)

const newest = "2025-11-25"

describe("initialize", () => {
  it.effect.each<readonly [offered: string, agreed: string]>([
    ["2024-11-05", "2024-11-05"],
    ["2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["2026-07-28", newest],
    ["1999-01-01", newest],
    ["", newest],
  ])("offered and agreed revision: %j", ([offered, agreed]) =>
    withServer({ version: "1.2.3" }, (server) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* server.ask(1, "initialize", params(offered)), {
          jsonrpc: "2.0",
          id: 1,
          result: {
            protocolVersion: agreed,
            capabilities: {
              ...featureCapabilities,
              ...(agreed === newest
                ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
                : {}),
              experimental: { "codex/event": {} },
            },
            serverInfo: { name: "colloquy", title: "Colloquy", version: "1.2.3" },
          },
        })
      }),
    ),
  )

  it("the newest revision is the first in the list of supported ones", () => {
    assert.deepStrictEqual(
      [protocolVersions[0], protocolVersions.length],
      [[...protocolVersions].toSorted().at(-1), 4],
    )
  })

  it.effect.each<readonly [faulty: unknown, ...paths: ReadonlyArray<string>]>([
    [undefined, "params.protocolVersion", "params.capabilities", "params.clientInfo"],
    [null, "params.protocolVersion", "params.capabilities", "params.clientInfo"],
    [[], "params"],
    [params(20250618), "params.protocolVersion"],
    [{ ...params(newest), capabilities: true }, "params.capabilities"],
    [{ ...params(newest), clientInfo: { name: "test" } }, "params.clientInfo.version"],
    [{ ...params(newest), clientInfo: { name: 1, version: "1" } }, "params.clientInfo.name"],
  ])("invalid parameters are reported with their paths: %j", ([faulty, ...paths]) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const { error } = yield* server.ask(1, "initialize", faulty)
        assert.strictEqual(error?.code, -32602)
        for (const path of paths) assert.include(error?.message, `${path}: `)
        const { issues } = decodeData(error?.data)
        assert.deepStrictEqual(
          issues.map((issue) => ["params", ...issue.path].join(".")),
          paths,
        )
        // It does not count as the one `initialize` of the connection.
        const good = yield* server.ask(2, "initialize", params(newest))
        assert.strictEqual(good.result?.["protocolVersion"], newest)
      }),
    ),
  )

  it.effect("is rejected the second time, and the connection stays open", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* server.ask(1, "initialize", params("2025-06-18"))
        assert.deepStrictEqual(yield* server.ask(2, "initialize", params(newest)), {
          jsonrpc: "2.0",
          id: 2,
          error: { code: -32600, message: "initialize called more than once" },
        })
        assert.deepStrictEqual((yield* server.ask(3, "ping")).result, {})
      }),
    ),
  )

  it.effect(
    "the result conforms to the specification, by the schema of another implementation",
    () =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          const { result } = yield* server.ask(1, "initialize", params(newest))
          const read = yield* Schema.decodeUnknownEffect(McpSchema.InitializeResult)(result)
          assert.strictEqual(read.serverInfo.name, "colloquy")
        }),
      ),
  )
})
