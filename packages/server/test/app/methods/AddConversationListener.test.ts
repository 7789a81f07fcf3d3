import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  created,
  errorOf,
  eventsOf,
  hello,
  listening,
  liveTurn,
  outline,
  say,
  seqsOf,
  typesOf,
  unknownId,
  type Refusal,
  withApp,
} from "../../support/AppHarness.ts"

/** With these notifications the numbers that a client gets have no gap. */
const raw = { experimentalRawEvents: true }

describe("addConversationListener", () => {
  it.effect("L2 the response comes before the first event, however many are waiting", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* say(app, conversationId, "early")
        yield* app.quiet
        yield* listening(app, conversationId)
        yield* app.quiet
        assert.deepStrictEqual(outline(app).slice(2), [
          "answer say",
          "answer listen",
          "task_started",
          "agent_message",
          "token_count",
          "task_complete",
        ])
      }),
    ),
  )

  it.effect(
    "L4 an event names its conversation, listener and turn, and its number if `after` was given",
    () =>
      withApp({}, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app)
          const subscriptionId = yield* listening(app, conversationId)
          yield* say(app, conversationId, "hi")
          yield* app.quiet
          assert.match(
            subscriptionId,
            /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
          )
          assert.deepStrictEqual(eventsOf(app)[0]?.params, {
            id: "0",
            msg: { type: "task_started", model_context_window: null },
            conversationId,
            subscriptionId,
          })
          const numbered = yield* listening(app, conversationId, { after: 1 }, "numbered")
          yield* app.quiet
          assert.deepStrictEqual(eventsOf(app, numbered)[0]?.params, {
            id: "0",
            msg: { type: "task_started", model_context_window: null },
            conversationId,
            subscriptionId: numbered,
            seq: 2,
          })
        }),
      ),
  )

  it.effect("L4 a listener gets every section of the reasoning that is received", () => {
    const part = Script.event({ type: "response.reasoning_summary_part.added" })
    const piece = (delta: string) =>
      Script.event({ type: "response.reasoning_summary_text.delta", delta })
    const script = [Script.reply(part, piece("on"), piece("e"), part, piece("two"), Script.hang)]
    return withApp({ script }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        const other = yield* app.another
        yield* hello(other)
        const ids = [
          yield* listening(other, conversationId),
          // Number of the event before the second section break.
          yield* listening(other, conversationId, { after: 5 }, "before"),
          // A client that has the break has the section that it ends.
          yield* listening(other, conversationId, { after: 6 }, "behind"),
        ]
        yield* other.quiet
        const streamed = (subscriptionId: string) =>
          eventsOf(other, subscriptionId).map(({ params }) => {
            const msg = params?.["msg"] as { readonly [_ in string]?: string } | undefined
            return msg?.["delta"] ?? msg?.["type"]
          })
        const all = ["one", "agent_reasoning_section_break", "two"]
        assert.deepStrictEqual(ids.map(streamed), [all, all, ["two"]])
      }),
    )
  })

  it.effect("L4 every listener gets every event, of one connection and of two", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        const other = yield* app.another
        yield* hello(other)
        const first = yield* listening(app, conversationId, {}, 1)
        const second = yield* listening(app, conversationId, {}, 2)
        yield* listening(other, conversationId)
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        assert.notStrictEqual(first, second)
        assert.deepStrictEqual(typesOf(app, first), liveTurn)
        assert.deepStrictEqual(typesOf(app, second), liveTurn)
        assert.deepStrictEqual(typesOf(other), liveTurn)
      }),
    ),
  )

  it.effect(
    "L4 a client that returns with its last number misses nothing and gets nothing twice",
    () =>
      withApp({}, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app)
          const subscriptionId = yield* listening(app, conversationId, { after: -1, ...raw })
          yield* say(app, conversationId, "one")
          yield* app.quiet
          const before = seqsOf(app)
          yield* app.ask("away", "removeConversationListener", { subscriptionId })
          yield* say(app, conversationId, "two", {}, "say2")
          yield* app.quiet
          const after = Math.max(...before)
          const again = yield* listening(app, conversationId, { after, ...raw }, "again")
          yield* app.quiet
          yield* say(app, conversationId, "three", {}, "say3")
          yield* app.quiet
          const seqs = seqsOf(app)
          assert.deepStrictEqual(
            seqs,
            seqs.map((_, seq) => seq),
          )
          const marks = app.messages.filter(({ method }) => method === "conversationSynced")
          assert.deepStrictEqual(
            marks.map(({ params }) => params),
            [
              { conversationId, subscriptionId, seq: 2 },
              { conversationId, subscriptionId: again, seq: 2 * before.length - 2 },
            ],
          )
        }),
      ),
  )

  it.effect(
    "a client that gives `after` also gets user messages, resolutions and the first event",
    () =>
      withApp({}, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app)
          const plain = yield* listening(app, conversationId, {}, 1)
          const knowing = yield* listening(app, conversationId, { after: -1 }, 2)
          yield* say(app, conversationId, "hi")
          yield* app.quiet
          assert.deepStrictEqual(typesOf(app, plain), liveTurn)
          assert.deepStrictEqual(
            typesOf(app, knowing).filter((type) => type !== undefined && !liveTurn.includes(type)),
            ["session_configured", "user_message"],
          )
        }),
      ),
  )

  it.effect("raw items are sent only to listeners that ask for them", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        const plain = yield* listening(app, conversationId, { experimentalRawEvents: false }, 1)
        const rawOne = yield* listening(app, conversationId, { experimentalRawEvents: true }, 2)
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        const isRaw = (type: string | undefined) => type === "raw_response_item"
        assert.deepStrictEqual(typesOf(app, plain), liveTurn)
        assert.isAbove(typesOf(app, rawOne).filter(isRaw).length, 0)
        assert.deepStrictEqual(
          typesOf(app, rawOne).filter((type) => !isRaw(type)),
          liveTurn,
        )
      }),
    ),
  )

  it.effect.each([
    [{ conversationId: unknownId }, `conversation not found: ${unknownId}`],
    [{ conversationId: "not-a-uuid" }, "Invalid request: params.conversationId: expected a UUID"],
    [{}, "Invalid request: params.conversationId: Missing key"],
  ] as ReadonlyArray<Refusal>)("refuses %j", ([params, text]) =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const { code, message } = errorOf(yield* app.ask(1, "addConversationListener", params))
        assert.strictEqual(code, -32600)
        assert.isTrue(String(message).startsWith(text), String(message))
      }),
    ),
  )

  it.effect.each([2, 17, 1.5, -2])("rejects a number that no event has yet: %d", (after) =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        const answer = yield* app.ask(1, "addConversationListener", { conversationId, after })
        const { code, message } = errorOf(answer)
        assert.strictEqual(code, -32600)
        assert.include(String(message), "after")
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        assert.deepStrictEqual(typesOf(app), [])
      }),
    ),
  )
})
