import { withCore } from "../../../server/test/support/Harness.ts"
import * as McpServer from "@colloquy/server/McpServer"
import type { Server } from "@colloquy/server/Server"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { type Headers, type McpHttp, mcpHttp } from "../support/McpHttp.ts"

const both: Headers = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
}

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "client", version: "1" },
  },
})

const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })

/** Opens a session as a client does that then does nothing. */
const open = (http: McpHttp) =>
  Effect.scoped(
    Effect.gen(function* () {
      const opened = yield* http.request("POST", both, initialize)
      yield* opened.over
      const session = opened.headers["mcp-session-id"] ?? ""
      const headers = { ...both, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }
      const accepted = yield* http.request("POST", headers, initialized)
      assert.strictEqual(accepted.status, 202)
    }),
  )

describe("an idle session", () => {
  // Memory is measured after a full collection, so the figures contain only what is held.
  setFlagsFromString("--expose-gc")
  const collect: () => void = runInNewContext("gc")
  const held = () => {
    collect()
    collect()
    return process.memoryUsage().heapUsed
  }

  it.effect(
    "L6 keeps what its revision and its client need, and none of the handlers that it never used",
    () =>
      withCore([], () =>
        Effect.gen(function* () {
          const context = yield* Effect.context<Server>()
          const http = yield* mcpHttp((connection) =>
            Effect.provideContext(McpServer.serve(connection), context),
          )
          const several = (count: number) => Effect.repeat(open(http), { times: count - 1 })
          // What the first ones create serves all; V8 compiles in steps.
          yield* several(100)
          const before = held()
          yield* several(500)
          const bytes = (held() - before) / 500
          // 21.1 KB measured with the test clock and the modules as the tests load them; 10 % more is a regression.
          assert.isBelow(bytes, 23_200)
        }),
      ),
  )
})
