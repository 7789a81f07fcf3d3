import { withCore } from "../../../server/test/support/Harness.ts"
import * as Features from "@colloquy/server/features/Features"
import { tool } from "@colloquy/server/features/Tool"
import * as McpServer from "@colloquy/server/McpServer"
import type { Server } from "@colloquy/server/Server"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Headers, mcpHttp } from "../support/McpHttp.ts"

const region = tool({
  name: "region",
  input: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
  },
  run: ({ region: given }) => Effect.succeed(`in ${String(given)}`),
})

const version = "2026-07-28"

const body = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name: "region",
    arguments: { region: "eu" },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
})

const headers: Headers = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
  "mcp-protocol-version": version,
  "mcp-method": "tools/call",
  "mcp-name": "region",
}

const withTool = <A>(
  use: (
    call: (more: Headers, text?: string) => Effect.Effect<readonly [number, unknown]>,
  ) => Effect.Effect<A>,
) =>
  Effect.flatMap(Features.make({ tools: [region] }), (features) =>
    withCore(
      [],
      () =>
        Effect.gen(function* () {
          const context = yield* Effect.context<Server>()
          const http = yield* mcpHttp((connection) =>
            Effect.provideContext(McpServer.serve(connection), context),
          )
          return yield* use((more, text = body) =>
            Effect.scoped(
              Effect.gen(function* () {
                const response = yield* http.request("POST", { ...headers, ...more }, text)
                yield* response.over
                const { error, result } = JSON.parse(response.text()) as {
                  readonly error?: { readonly message: string }
                  readonly result?: { readonly content: unknown }
                }
                return [response.status, error?.message ?? result?.content] as const
              }),
            ),
          )
        }),
      undefined,
      undefined,
      undefined,
      undefined,
      { features },
    ),
  )

describe("the arguments of a tool in the headers of its call (2026-07-28)", () => {
  it.effect("must be those of the body", () =>
    withTool((call) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* call({ "mcp-param-region": "eu" }), [
          200,
          [{ type: "text", text: "in eu" }],
        ])
        assert.deepStrictEqual(yield* call({ "mcp-param-region": "us" }), [
          400,
          "Header mismatch: Mcp-Param-Region differs from the body",
        ])
        assert.deepStrictEqual(yield* call({}), [
          400,
          "Header mismatch: Mcp-Param-Region is absent",
        ])
      }),
    ),
  )

  it.effect("are not looked at before the request is complete, which a status says", () =>
    withTool((call) =>
      Effect.gen(function* () {
        const incomplete = body.replace(',"io.modelcontextprotocol/clientCapabilities":{}', "")
        const [status, message] = yield* call({ "mcp-param-region": "us" }, incomplete)
        assert.strictEqual(status, 400)
        assert.match(String(message), /clientCapabilities/)
      }),
    ),
  )
})
