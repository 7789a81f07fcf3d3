import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  created,
  errorOf,
  listening,
  resultOf,
  say,
  typesOf,
  type Refusal,
  withApp,
} from "../../support/AppHarness.ts"
import { listed } from "../../support/Harness.ts"

describe("newConversation", () => {
  it.effect("creates a conversation with the requested settings", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app, {
          model: "other",
          cwd: "sub",
          approvalPolicy: "never",
          sandbox: "workspace-write",
          config: { model_reasoning_effort: "high" },
          profile: null,
        })
        const state = resultOf(yield* app.ask(2, "getConversation", { conversationId }))
        assert.deepStrictEqual(
          {
            ...state,
            sandboxPolicy: (state["sandboxPolicy"] as { mode: string }).mode,
          },
          {
            conversationId,
            model: "other",
            reasoningEffort: "high",
            status: "idle",
            waitingMessages: 0,
            openQuestions: 0,
            nextSeq: 2,
            cwd: "/work/sub",
            approvalPolicy: "never",
            sandboxPolicy: "workspace-write",
          },
        )
      }),
    ),
  )

  it.effect("params may be absent", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const { conversationId, ...rest } = resultOf(yield* app.ask(1, "newConversation"))
        assert.isString(conversationId)
        assert.deepStrictEqual(rest, { model: "mock-model" })
      }),
    ),
  )

  it.effect("events before the first listener are delivered to it", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* say(app, conversationId, "early")
        yield* app.quiet
        assert.deepStrictEqual(typesOf(app), [])
        yield* listening(app, conversationId)
        yield* app.quiet
        assert.deepStrictEqual(typesOf(app), [
          "task_started",
          "agent_message",
          "token_count",
          "task_complete",
        ])
      }),
    ),
  )

  it.effect.each([
    [{ approvalPolicy: "sometimes" }, "Invalid request: params.approvalPolicy"],
    [{ sandbox: { mode: "read-only" } }, "Invalid request: params.sandbox"],
    [{ model: 4 }, "Invalid request: params.model"],
    [{ profile: "nobody" }, "error deriving config: "],
    [{ config: { model_provider: "nobody" } }, "error deriving config: "],
  ] as ReadonlyArray<Refusal>)("refuses %j and creates nothing", ([params, text]) =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const { code, message } = errorOf(yield* app.ask(1, "newConversation", params))
        assert.strictEqual(code, -32600)
        assert.include(String(message), text)
        assert.deepStrictEqual(yield* listed(app.manager), [])
      }),
    ),
  )
})
