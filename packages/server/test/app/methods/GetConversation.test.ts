import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  created,
  errorOf,
  listening,
  resultOf,
  say,
  seqsOf,
  unknownId,
  withApp,
} from "../../support/AppHarness.ts"
import { asking, exec, oneCall } from "../../support/Asking.ts"

const hangs: Script.ProviderScript = () => Script.reply(Script.hang)

describe("getConversation", () => {
  it.effect("returns the running turn and the number of waiting messages", () =>
    withApp({ script: hangs }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* say(app, conversationId, "one", {}, 1)
        yield* say(app, conversationId, "two", { whileRunning: "wait" }, 2)
        yield* app.quiet
        const { status, turnId, waitingMessages } = resultOf(
          yield* app.ask(3, "getConversation", { conversationId: conversationId.toUpperCase() }),
        )
        assert.deepStrictEqual(
          { status, turnId, waitingMessages },
          { status: "running", turnId: "0", waitingMessages: 1 },
        )
      }),
    ),
  )

  it.effect("reports that a question is pending", () =>
    withApp({ script: oneCall, tools: asking([exec]).tools }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        const { openQuestions, status } = resultOf(
          yield* app.ask(1, "getConversation", { conversationId }),
        )
        assert.deepStrictEqual(
          { openQuestions, status },
          { openQuestions: 1, status: "waitingForApproval" },
        )
      }),
    ),
  )

  it.effect("a listener after `nextSeq - 1` gets only new events", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* say(app, conversationId, "hi", {}, 1)
        yield* app.quiet
        const state = resultOf(yield* app.ask(2, "getConversation", { conversationId }))
        assert.strictEqual(state["totalTokens"], 18)
        const next = Number(state["nextSeq"])
        yield* listening(app, conversationId, { after: next - 1, experimentalRawEvents: true })
        yield* app.quiet
        assert.deepStrictEqual(seqsOf(app), [])
        yield* say(app, conversationId, "more", {}, 3)
        yield* app.quiet
        assert.strictEqual(seqsOf(app)[0], next)
      }),
    ),
  )

  it.effect("rejects an unknown conversation", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          errorOf(yield* app.ask(1, "getConversation", { conversationId: unknownId })),
          { code: -32600, message: `conversation not found: ${unknownId}` },
        )
      }),
    ),
  )
})
