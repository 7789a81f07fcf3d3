import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { initialize } from "../support/Asking.ts"
import { withServer } from "../support/Harness.ts"
import { saying } from "../support/Stateless.ts"

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`

const meta = JSON.stringify(saying()._meta)

describe("L13 bad input, in both eras", () => {
  it.effect.each<readonly [era: string, more: string]>([
    ["with a handshake", ""],
    ["without", `,"_meta":${meta}`],
  ])("arguments 1,000 levels deep are an error with the id, %s", ([, more]) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* server.send(initialize({}))
        yield* server.sendTexts(
          `{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"codex","arguments":{"prompt":"p","config":${deep(1000)}}${more}}}`,
        )
        assert.deepStrictEqual((yield* server.response("d")).error, {
          code: -32602,
          message: "Invalid params: nested deeper than 256 levels",
        })
        const { result } = yield* server.ask(2, "tools/list", saying())
        assert.strictEqual(result?.["resultType"], "complete")
      }),
    ),
  )

  it.effect("a second initialize is refused, whatever it offers, and changes nothing", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* server.send(initialize({}))
        const { params } = initialize({ elicitation: {} })
        for (const protocolVersion of ["2025-11-25", "2024-11-05", "2026-07-28"]) {
          const { error } = yield* server.ask(protocolVersion, "initialize", {
            ...params,
            protocolVersion,
          })
          assert.deepStrictEqual(error, {
            code: -32600,
            message: "initialize called more than once",
          })
        }
        yield* server.send([{ jsonrpc: "2.0", id: 1, method: "ping" }])
        yield* server.quiet
        assert.strictEqual(server.messages.at(-1)?.error?.code, -32600)
      }),
    ),
  )

  it.effect("nothing is kept of refused requests: 2,000 of them leave the server unchanged", () =>
    withServer({ maxInFlight: 16 }, (server) =>
      Effect.gen(function* () {
        for (let n = 0; n < 2000; n++) {
          yield* server.send({
            jsonrpc: "2.0",
            id: n,
            method: "tools/call",
            params: saying({ name: "codex", requestState: `forged-${n}`, inputResponses: {} }),
          })
        }
        const last = yield* server.response(1999)
        assert.strictEqual(last.error?.code, -32602)
        const codes = new Set(server.messages.map(({ error }) => error?.code))
        assert.deepStrictEqual([...codes], [-32602])
        const { result } = yield* server.ask("after", "tools/list", saying())
        assert.strictEqual(result?.["resultType"], "complete")
      }),
    ),
  )
})
