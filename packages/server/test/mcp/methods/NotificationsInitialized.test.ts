import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { withServer } from "../../support/Harness.ts"

describe("notifications/initialized", () => {
  it.effect.each([undefined, {}, [1], "text", null])(
    "is accepted at any time, any number of times, and never answered: %j",
    (params) =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          const initialized = { jsonrpc: "2.0", method: "notifications/initialized", params }
          yield* server.send(initialized, initialized)
          yield* server.quiet
          assert.deepStrictEqual(server.texts, [])
          assert.deepStrictEqual((yield* server.ask(1, "ping")).result, {})
        }),
      ),
  )

  it.effect("is an unknown method when it is sent as a request", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        assert.deepStrictEqual((yield* server.ask(1, "notifications/initialized")).error, {
          code: -32601,
          message: "Method not found: notifications/initialized",
          data: { method: "notifications/initialized" },
        })
      }),
    ),
  )
})
