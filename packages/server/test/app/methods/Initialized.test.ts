import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { errorOf, hello, resultOf, withApp } from "../../support/AppHarness.ts"

describe("initialized", () => {
  it.effect.each([undefined, null, {}])(
    "is accepted at any time, is not answered, and is not required: %j",
    (params) =>
      withApp({ initialized: false }, (app) =>
        Effect.gen(function* () {
          const notice = { method: "initialized", ...(params === undefined ? {} : { params }) }
          yield* app.send(notice)
          yield* hello(app)
          yield* app.send(notice, notice)
          yield* app.quiet
          assert.strictEqual(app.messages.length, 1)
          resultOf(yield* app.ask(1, "newConversation", {}))
        }),
      ),
  )

  it.effect("is rejected as a request, with an error that says what is wrong", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* app.ask(1, "initialized")), {
          code: -32600,
          message: "Invalid request: `initialized` is a notification, expected no `id`",
        })
      }),
    ),
  )
})
