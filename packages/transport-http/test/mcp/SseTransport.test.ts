import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mcpHttp, quiet } from "../support/McpHttp.ts"
import { scriptedProgram } from "../support/ScriptedProgram.ts"

const json = { "content-type": "application/json" }
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

describe("HTTP with SSE", () => {
  it.effect("serves messages of the principal that opened the stream, until the stream ends", () =>
    Effect.gen(function* () {
      const { serve } = scriptedProgram()
      const { request } = yield* mcpHttp(serve, { maxSessions: 1 })
      const stream = yield* request("GET", {}, undefined, undefined, "/sse")
      yield* quiet
      const address = stream.events()[0]?.data ?? ""
      assert.match(address, /^\/messages\?sessionId=[\x21-\x7e]{32}$/)
      const post = (headers: Readonly<Record<string, string>>, text: string, path = address) =>
        Effect.map(request("POST", headers, text, undefined, path), ({ status }) => status)
      assert.strictEqual(yield* post(json, ping), 202)
      yield* quiet
      assert.include(stream.text(), '{"jsonrpc":"2.0","id":1,"result":{"echo":"ping"}}')
      assert.strictEqual(yield* post({ ...json, "x-principal": "other" }, ping), 404)
      assert.strictEqual(yield* post(json, ping, "/messages?sessionId=none"), 404)
      assert.strictEqual(yield* post({ "content-type": "text/plain" }, ping), 415)
      assert.strictEqual(yield* post(json, "{"), 400)
      const second = yield* request("GET", {}, undefined, undefined, "/sse")
      assert.deepStrictEqual([second.status, second.headers["retry-after"]], [503, "30"])
      yield* stream.disconnect
      assert.strictEqual(yield* post(json, ping), 404)
    }),
  )
})
