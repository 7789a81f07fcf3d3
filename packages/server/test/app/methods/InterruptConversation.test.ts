import * as Script from "@colloquy/testing/ProviderScript"
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
import { asking, exec, oneCall } from "../../support/Asking.ts"
import * as PathStore from "../../support/PathStore.ts"
import { defaultReply } from "../../support/Harness.ts"

const hangs: Script.ProviderScript = () => Script.reply(Script.deltas("par"), Script.hang)

describe("interruptConversation", () => {
  it.effect("L14 is answered after `turn_aborted`", () =>
    withApp({ script: hangs }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId, {}, 1)
        yield* listening(app, conversationId, {}, 2)
        yield* say(app, conversationId, "hang")
        yield* app.quiet
        const before = app.messages.length
        const answer = yield* app.ask(3, "interruptConversation", { conversationId })
        assert.deepStrictEqual(resultOf(answer), { abortReason: "interrupted", turnId: "0" })
        assert.deepStrictEqual(outline(app).slice(before), [
          "turn_aborted",
          "turn_aborted",
          "answer 3",
        ])
      }),
    ),
  )

  it.effect(
    "L4 the text that was streamed before is delivered, recorded, and part of the next request",
    () =>
      withApp(
        {
          script: [Script.reply(Script.bareDeltas("par"), Script.hang), defaultReply],
          store: PathStore.layer,
        },
        (app) =>
          Effect.gen(function* () {
            const conversationId = yield* created(app)
            yield* listening(app, conversationId)
            yield* say(app, conversationId, "hang")
            yield* app.quiet
            yield* app.ask(3, "interruptConversation", { conversationId })
            assert.deepStrictEqual(typesOf(app).slice(-2), ["agent_message", "turn_aborted"])
            yield* say(app, conversationId, "go on", {}, "say2")
            yield* app.quiet
            const requests = yield* app.provider.requests
            assert.include(JSON.stringify(requests.at(-1)?.body), '"text":"par"')
            const path = PathStore.pathOf(conversationId)
            const { initialMessages } = resultOf(yield* app.ask(4, "resumeConversation", { path }))
            assert.deepInclude(initialMessages as ReadonlyArray<unknown>, {
              type: "agent_message",
              message: "par",
            })
          }),
      ),
  )

  it.effect("is answered at once when no turn runs, and the conversation continues", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        const answer = yield* app.ask(1, "interruptConversation", { conversationId })
        assert.deepStrictEqual(resultOf(answer), { abortReason: "interrupted" })
        yield* listening(app, conversationId)
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        assert.strictEqual(typesOf(app).at(-1), "task_complete")
        const again = yield* app.ask(2, "interruptConversation", { conversationId })
        assert.deepStrictEqual(resultOf(again), { abortReason: "interrupted" })
      }),
    ),
  )

  it.effect("is answered without listeners, and with a listener of another connection", () =>
    withApp({ script: hangs }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* say(app, conversationId, "hang")
        const other = yield* app.another
        yield* hello(other)
        const answer = yield* app.ask(1, "interruptConversation", { conversationId })
        assert.deepStrictEqual(resultOf(answer), { abortReason: "interrupted", turnId: "0" })
        yield* listening(app, conversationId)
        yield* say(app, conversationId, "hang", {}, "say2")
        const answers = yield* other.ask(2, "interruptConversation", { conversationId })
        assert.strictEqual(resultOf(answers)["abortReason"], "interrupted")
        yield* app.quiet
        assert.strictEqual(typesOf(app).at(-1), "turn_aborted")
      }),
    ),
  )

  it.effect("several at once are all answered, and waiting messages are dropped", () =>
    withApp({ script: hangs }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        yield* say(app, conversationId, "hang")
        yield* say(app, conversationId, "later", { whileRunning: "wait" }, "say2")
        yield* app.quiet
        yield* app.send(
          ...[1, 2, 3].map((id) => ({
            id,
            method: "interruptConversation",
            params: { conversationId },
          })),
        )
        for (const id of [1, 2, 3]) {
          assert.strictEqual(resultOf(yield* app.response(id))["abortReason"], "interrupted")
        }
        yield* app.quiet
        const state = resultOf(yield* app.ask(4, "getConversation", { conversationId }))
        assert.deepStrictEqual([state["status"], state["waitingMessages"]], ["idle", 0])
      }),
    ),
  )

  it.effect("L7 L14 withdraws the pending question of the turn", () =>
    withApp({ script: oneCall, tools: asking([exec]).tools }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        const question = app.messages.find(({ method }) => method === "execCommandApproval")
        const answer = yield* app.ask(1, "interruptConversation", { conversationId })
        assert.strictEqual(resultOf(answer)["abortReason"], "interrupted")
        yield* app.quiet
        const withdrawn = app.messages.filter(({ method }) => method === "$/cancelRequest")
        assert.deepStrictEqual(
          withdrawn.map(({ params }) => params),
          [{ id: question?.id }],
        )
      }),
    ),
  )

  it.effect("rejects an unknown conversation", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          errorOf(yield* app.ask(1, "interruptConversation", { conversationId: unknownId })),
          { code: -32600, message: `conversation not found: ${unknownId}` },
        )
      }),
    ),
  )
})
