import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { subscriptionId } from "../../../src/app/subscriptions/SubscriptionId.ts"

describe("SubscriptionId", () => {
  it.effect("is a UUID of version 4, and a new one each time", () =>
    Effect.gen(function* () {
      const ids = yield* Effect.all(Array.from({ length: 1000 }, () => subscriptionId))
      const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
      assert.deepStrictEqual(
        ids.filter((id) => !form.test(id)),
        [],
      )
      assert.strictEqual(new Set(ids).size, ids.length)
    }),
  )
})
