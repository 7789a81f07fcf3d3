import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { withServer } from "../../support/Harness.ts"

const big = "9007199254740993"

describe("ping", () => {
  it.effect.each([0, "0", "", "1", -1, 2 ** 53 - 1, "x".repeat(1000)])(
    "is answered with the id as it was sent, at any time: %j",
    (id) =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* server.ask(id, "ping"), { jsonrpc: "2.0", id, result: {} })
        }),
      ),
  )

  it.effect("keeps the digits of an id beyond the integers of a double", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* server.sendTexts(`{"jsonrpc":"2.0","id":${big},"method":"ping"}`)
        yield* server.quiet
        assert.deepStrictEqual(server.texts, [`{"jsonrpc":"2.0","id":${big},"result":{}}`])
      }),
    ),
  )

  it.effect.each([undefined, null, {}, [1, 2], { _meta: { progressToken: 1 } }])(
    "is answered with any parameters: %j",
    (params) =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          assert.deepStrictEqual((yield* server.ask(1, "ping", params)).result, {})
        }),
      ),
  )

  it.effect("2,000 in one batch are answered in order", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const ids = Array.from({ length: 2000 }, (_, id) => id)
        yield* server.send(...ids.map((id) => ({ jsonrpc: "2.0", id, method: "ping" })))
        yield* server.response(1999)
        assert.deepStrictEqual(
          server.messages.map(({ id }) => id),
          ids,
        )
      }),
    ),
  )
})
