import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { resource } from "../../../src/features/Resource.ts"
import { codeOf, initialized, noticesOf, stateless, withFeatures } from "../../support/Featuring.ts"

const one = (uri: string) => resource({ uri, name: uri, read: () => Effect.succeed("") })

describe("resources/unsubscribe", () => {
  it.effect("ends notifications of that resource, and keeps those of the others", () =>
    withFeatures({ resources: [one("x:a"), one("x:b")] }, (server, features) =>
      Effect.gen(function* () {
        yield* initialized(server)
        yield* server.ask(1, "resources/subscribe", { uri: "x:a" })
        yield* server.ask(2, "resources/subscribe", { uri: "x:b" })
        const { result } = yield* server.ask(3, "resources/unsubscribe", { uri: "x:a" })
        assert.deepStrictEqual(result, {})
        yield* features.updated("x:a")
        yield* features.updated("x:b")
        yield* TestClock.adjust("1 second")
        yield* server.quiet
        assert.deepStrictEqual(noticesOf(server), [
          { method: "notifications/resources/updated", params: { uri: "x:b" } },
        ])
      }),
    ),
  )

  it.effect("succeeds without a subscription; invalid params are an error", () =>
    withFeatures({}, (server) =>
      Effect.gen(function* () {
        yield* initialized(server)
        const { result } = yield* server.ask(1, "resources/unsubscribe", { uri: "x:none" })
        assert.deepStrictEqual(result, {})
        assert.strictEqual(codeOf(yield* server.ask(2, "resources/unsubscribe", {})), -32602)
        const { error } = yield* server.ask(3, "resources/unsubscribe", stateless({ uri: "x" }))
        assert.strictEqual(error?.code, -32601)
      }),
    ),
  )
})
