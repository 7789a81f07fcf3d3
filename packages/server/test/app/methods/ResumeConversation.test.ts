import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  created,
  errorOf,
  hello,
  listening,
  liveTurn,
  outline,
  type Refusal,
  resultOf,
  say,
  typesOf,
  withApp,
} from "../../support/AppHarness.ts"
import * as PathStore from "../../support/PathStore.ts"

const store = PathStore.layer

const spoken = ["user_message", "agent_message", "token_count"]

describe("resumeConversation", () => {
  it.effect(
    "L2 returns the history, then sends the notification; a listener gets only new events",
    () =>
      withApp({ store }, (app) =>
        Effect.gen(function* () {
          const id = yield* created(app)
          yield* say(app, id, "hello")
          yield* app.quiet
          const other = yield* app.another
          yield* hello(other)
          const path = PathStore.pathOf(id)
          const { initialMessages, ...rest } = resultOf(
            yield* other.ask(1, "resumeConversation", { path }),
          )
          yield* other.quiet
          assert.deepStrictEqual(rest, {
            conversationId: id,
            model: "mock-model",
            rolloutPath: path,
          })
          const types = (initialMessages as ReadonlyArray<{ type: string }>).map(({ type }) => type)
          assert.deepStrictEqual(types, spoken)
          assert.deepStrictEqual(outline(other).slice(1), ["answer 1", "sessionConfigured"])
          assert.deepStrictEqual(other.messages.at(-1)?.params, {
            sessionId: id,
            model: "mock-model",
            historyLogId: 0,
            historyEntryCount: 0,
            initialMessages,
            rolloutPath: path,
          })
          yield* listening(other, id)
          yield* say(other, id, "more")
          yield* app.quiet
          assert.deepStrictEqual(typesOf(other), liveTurn)
        }),
      ),
  )

  it.effect("applies overrides to the settings that it had", () =>
    withApp({ store }, (app) =>
      Effect.gen(function* () {
        const id = yield* created(app, { approvalPolicy: "never" })
        const params = {
          path: PathStore.pathOf(id),
          overrides: { model: "other", sandbox: "workspace-write", cwd: null },
        }
        assert.strictEqual(
          resultOf(yield* app.ask(1, "resumeConversation", params))["model"],
          "other",
        )
        const state = resultOf(yield* app.ask(2, "getConversation", { conversationId: id }))
        assert.deepStrictEqual(
          [
            state["model"],
            state["approvalPolicy"],
            (state["sandboxPolicy"] as { mode: string }).mode,
          ],
          ["other", "never", "workspace-write"],
        )
      }),
    ),
  )

  it.effect.each([
    [
      { path: "/tmp/none.jsonl" },
      'error resuming conversation: path: expected the absolute path of a rollout file in /state/sessions; got "/tmp/none.jsonl"',
    ],
    [
      { path: PathStore.pathOf("00000000-0000-4000-8000-000000000000") },
      'error resuming conversation: path: there is no rollout file at "/state/sessions/',
    ],
    [{}, "Invalid request: params.path: Missing key"],
    [{ path: "x", overrides: { model: 1 } }, "Invalid request: params.overrides.model"],
  ] as ReadonlyArray<Refusal>)("refuses %j", ([params, text]) =>
    withApp({ store }, (app) =>
      Effect.gen(function* () {
        const { message } = errorOf(yield* app.ask(1, "resumeConversation", params))
        assert.isTrue(String(message).startsWith(text), String(message))
        yield* app.quiet
        assert.strictEqual(outline(app).at(-1), "answer 1")
      }),
    ),
  )

  it.effect.each([
    [{ profile: "nobody" }, "error deriving config: "],
    [{ includePlanTool: true }, "error deriving config: `includePlanTool` is settled"],
  ] as ReadonlyArray<Refusal>)(
    "rejects the overrides %j, and nothing changes",
    ([overrides, text]) =>
      withApp({ store }, (app) =>
        Effect.gen(function* () {
          const id = yield* created(app)
          const path = PathStore.pathOf(id)
          const { code, message } = errorOf(
            yield* app.ask(1, "resumeConversation", { path, overrides }),
          )
          assert.strictEqual(code, -32600)
          assert.isTrue(String(message).startsWith(text), String(message))
        }),
      ),
  )
})
