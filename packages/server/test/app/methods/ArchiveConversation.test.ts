import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  created,
  errorOf,
  hello,
  listening,
  outline,
  resultOf,
  say,
  typesOf,
  unknownId,
  withApp,
} from "../../support/AppHarness.ts"
import type { Harness } from "../../support/Harness.ts"
import * as PathStore from "../../support/PathStore.ts"

const store = PathStore.layer

const closedIn = ({ messages }: Harness) =>
  messages.flatMap(({ method, params }) => (method === "conversationClosed" ? [params] : []))

const refused = (path: string, fault: string) => ({
  code: -32600,
  message: `rollout path \`${path}\` must be in sessions directory: rolloutPath: ${fault}`,
})

const outside = (path: string) =>
  refused(path, `expected the absolute path of a rollout file in /state/sessions; got "${path}"`)

describe("archiveConversation", () => {
  it.effect("ends the conversation and archives it, once", () =>
    withApp({ store }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        const params = { conversationId, rolloutPath: PathStore.pathOf(conversationId) }
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "archiveConversation", params)), {})
        assert.deepStrictEqual(resultOf(yield* app.ask(2, "listConversations", {})), { items: [] })
        assert.deepStrictEqual(
          errorOf(yield* app.ask(3, "archiveConversation", params)),
          refused(params.rolloutPath, "the conversation is archived already"),
        )
        const { code, message } = errorOf(yield* say(app, conversationId, "x", {}, 4))
        assert.strictEqual(code, -32600)
        assert.include(String(message), "archived")
      }),
    ),
  )

  it.effect("listeners that gave `after` are notified of its end last, each once", () =>
    withApp({ store }, (app) =>
      Effect.gen(function* () {
        const other = yield* app.another
        yield* hello(other)
        const conversationId = yield* created(app)
        const kept = yield* created(app, {}, "kept")
        const subscriptionId = yield* listening(app, conversationId, { after: -1 }, 1)
        yield* listening(app, kept, { after: -1 }, 2)
        const old = yield* listening(app, conversationId, {}, 3)
        const theirs = yield* listening(other, conversationId, { after: -1 })
        yield* app.ask(4, "archiveConversation", { conversationId })
        yield* app.quiet
        assert.deepStrictEqual(
          [closedIn(app), closedIn(other)],
          [[{ conversationId, subscriptionId }], [{ conversationId, subscriptionId: theirs }]],
        )
        assert.deepStrictEqual(outline(other).slice(-2), [
          "shutdown_complete",
          "conversationClosed",
        ])
        assert.strictEqual(typesOf(app, old).at(-1), "shutdown_complete")
        for (const id of [subscriptionId, old]) {
          resultOf(yield* app.ask(id, "removeConversationListener", { subscriptionId: id }))
        }
      }),
    ),
  )

  it.effect(
    "a conversation that ends with its server is not reported as closed: it will be resumed",
    () =>
      withApp({ store }, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app)
          yield* listening(app, conversationId, { after: -1 })
          yield* app.manager.shutdown
          yield* app.quiet
          assert.deepStrictEqual([typesOf(app).at(-1), closedIn(app)], ["shutdown_complete", []])
        }),
      ),
  )

  it.effect("archives by the id only", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        const answer = yield* app.ask(1, "archiveConversation", { conversationId })
        assert.deepStrictEqual(resultOf(answer), {})
        assert.deepStrictEqual(
          errorOf(yield* app.ask(2, "archiveConversation", { conversationId: unknownId })),
          { code: -32600, message: `conversation not found: ${unknownId}` },
        )
      }),
    ),
  )

  it.effect(
    "rejects a path of another conversation, outside the directory or of no file, and ends nothing",
    () =>
      withApp({ store }, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app, {}, 1)
          const rolloutPath = PathStore.pathOf(yield* created(app, {}, 2))
          assert.deepStrictEqual(
            errorOf(yield* app.ask(3, "archiveConversation", { conversationId, rolloutPath })),
            {
              code: -32600,
              message: `rollout path \`${rolloutPath}\` does not match conversation id ${conversationId}`,
            },
          )
          for (const [id, path] of [
            "/tmp/none.jsonl",
            `/tmp/rollout-${conversationId}.jsonl`,
          ].entries()) {
            assert.deepStrictEqual(
              errorOf(
                yield* app.ask(`p${id}`, "archiveConversation", {
                  conversationId,
                  rolloutPath: path,
                }),
              ),
              outside(path),
            )
          }
          const nothing = PathStore.pathOf(unknownId)
          assert.deepStrictEqual(
            errorOf(
              yield* app.ask(5, "archiveConversation", { conversationId, rolloutPath: nothing }),
            ),
            refused(nothing, `there is no rollout file at "${nothing}"`),
          )
          const state = yield* app.ask(4, "getConversation", { conversationId })
          assert.strictEqual(resultOf(state)["status"], "idle")
        }),
      ),
  )
})
