import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import {
  created,
  errorOf,
  listening,
  liveTurn,
  outline,
  resultOf,
  say,
  turnParams,
  type Refusal,
  typesOf,
  unknownId,
  withApp,
} from "../../support/AppHarness.ts"

const slow = () => Script.reply(Script.delay("1 second"), Script.text("done"))

describe("sendUserTurn", () => {
  it.effect("runs with the given settings, which remain in effect; the response comes first", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        const answer = yield* app.ask(1, "sendUserTurn", turnParams(conversationId))
        assert.deepStrictEqual(resultOf(answer), { turnId: "0", disposition: "started" })
        yield* app.quiet
        assert.deepStrictEqual(outline(app).slice(3), ["answer 1", ...liveTurn])
        const state = resultOf(yield* app.ask(2, "getConversation", { conversationId }))
        assert.deepStrictEqual(
          [state["model"], state["cwd"], state["approvalPolicy"], state["sandboxPolicy"]],
          ["turn-model", "/elsewhere", "never", { mode: "read-only" }],
        )
        const [request] = yield* app.provider.requests
        assert.include(JSON.stringify(request), "turn-model")
      }),
    ),
  )

  it.effect("waits while another turn runs, so that its settings are not lost", () =>
    withApp({ script: slow }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        yield* say(app, conversationId, "one")
        yield* app.quiet
        const answer = yield* app.ask(1, "sendUserTurn", turnParams(conversationId))
        assert.deepStrictEqual(resultOf(answer), { turnId: "1", disposition: "waiting" })
        for (let i = 0; i < 5; i++) {
          yield* TestClock.adjust("1 second")
          yield* app.quiet
        }
        assert.deepStrictEqual(typesOf(app), [...liveTurn, ...liveTurn])
        const models = (yield* app.provider.requests).map((request) =>
          JSON.stringify(request).includes("turn-model"),
        )
        assert.deepStrictEqual(models, [false, true])
      }),
    ),
  )

  it.effect("resolves a relative directory against that of the server", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* app.ask(1, "sendUserTurn", turnParams(conversationId, { cwd: "sub" }))
        yield* app.quiet
        const state = resultOf(yield* app.ask(2, "getConversation", { conversationId }))
        assert.strictEqual(state["cwd"], "/work/sub")
      }),
    ),
  )

  it.effect.each([
    [{ sandboxPolicy: { mode: "anything" } }, "params.sandboxPolicy"],
    [{ sandboxPolicy: "read-only" }, "params.sandboxPolicy"],
    [{ sandboxPolicy: { mode: "workspace-write", writable_roots: "/" } }, "params.sandboxPolicy"],
    [{ sandboxPolicy: undefined }, "params.sandboxPolicy: Missing key"],
    [{ effort: "bogus" }, "params.effort"],
    [{ summary: undefined }, "params.summary: Missing key"],
    [{ approvalPolicy: "on-a-whim" }, "params.approvalPolicy"],
  ] as ReadonlyArray<Refusal>)("refuses %j, and nothing runs or changes", ([more, path]) =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        const before = resultOf(yield* app.ask("before", "getConversation", { conversationId }))
        const answer = yield* app.ask(1, "sendUserTurn", turnParams(conversationId, more))
        const { code, message } = errorOf(answer)
        assert.strictEqual(code, -32600)
        assert.isTrue(String(message).startsWith(`Invalid request: ${path}`), String(message))
        yield* app.quiet
        assert.deepStrictEqual(typesOf(app), [])
        assert.deepStrictEqual(
          resultOf(yield* app.ask("after", "getConversation", { conversationId })),
          before,
        )
      }),
    ),
  )

  it.effect("rejects an unknown conversation", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* app.ask(1, "sendUserTurn", turnParams(unknownId))), {
          code: -32600,
          message: `conversation not found: ${unknownId}`,
        })
      }),
    ),
  )
})
