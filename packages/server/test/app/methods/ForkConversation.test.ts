import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  created,
  errorOf,
  listening,
  liveTurn,
  resultOf,
  say,
  typesOf,
  unknownId,
  type Refusal,
  withApp,
} from "../../support/AppHarness.ts"
import { listed } from "../../support/Harness.ts"

describe("forkConversation", () => {
  it.effect(
    "continues from the beginning of another conversation; its listener gets only new events",
    () =>
      withApp({}, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app)
          yield* say(app, conversationId, "one", {}, 1)
          yield* app.quiet
          yield* say(app, conversationId, "two", {}, 2)
          yield* app.quiet
          const { conversationId: fork, ...rest } = resultOf(
            yield* app.ask(3, "forkConversation", { conversationId, dropLastMessages: 1 }),
          )
          assert.deepStrictEqual(rest, { model: "mock-model" })
          assert.notStrictEqual(fork, conversationId)
          yield* listening(app, String(fork))
          yield* app.quiet
          assert.deepStrictEqual(typesOf(app), [])
          yield* say(app, String(fork), "three", {}, 4)
          yield* app.quiet
          assert.deepStrictEqual(typesOf(app), liveTurn)
          const last = JSON.stringify((yield* app.provider.requests).at(-1))
          assert.deepStrictEqual(
            ["one", "two", "three"].map((word) => last.includes(`"${word}"`)),
            [true, false, true],
          )
        }),
      ),
  )

  it.effect.each([
    [{ dropLastMessages: 2 }, "dropLastMessages: expected at most 1"],
    [{ beforeMessage: 1 }, "beforeMessage: expected"],
    [{ dropLastMessages: -1 }, "Invalid request: params.dropLastMessages"],
    [{ dropLastMessages: 0, beforeMessage: 0 }, "Invalid request: params: `dropLastMessages` and"],
    [{ conversationId: unknownId }, `conversation not found: ${unknownId}`],
  ] as ReadonlyArray<Refusal>)("refuses %j and creates nothing", ([more, text]) =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* say(app, conversationId, "one", {}, 1)
        yield* app.quiet
        const answer = yield* app.ask(2, "forkConversation", { conversationId, ...more })
        const { code, message } = errorOf(answer)
        assert.strictEqual(code, -32600)
        assert.isTrue(String(message).startsWith(text), String(message))
        assert.deepStrictEqual(yield* listed(app.manager), [conversationId])
      }),
    ),
  )
})
