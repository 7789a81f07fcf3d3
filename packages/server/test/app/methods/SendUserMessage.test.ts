import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import {
  created,
  errorOf,
  eventsOf,
  listening,
  liveTurn,
  outline,
  resultOf,
  say,
  text,
  typesOf,
  unknownId,
  type Refusal,
  withApp,
} from "../../support/AppHarness.ts"

const slow: Script.ProviderScript = ({ lastUserText }) =>
  Script.reply(Script.delay("1 second"), Script.text(`you said ${lastUserText}`))

const answers = (app: Parameters<typeof eventsOf>[0]) =>
  eventsOf(app).flatMap(({ params }) => {
    const msg = params?.["msg"] as { readonly type: string; readonly message?: string }
    return msg.type === "agent_message" ? [msg.message] : []
  })

describe("sendUserMessage", () => {
  it.effect("L2 the response comes before everything that the request causes, every time", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId, {}, 1)
        yield* listening(app, conversationId, {}, 2)
        const before = app.messages.length
        const ids = Array.from({ length: 20 }, (_, i) => `say${i}`)
        for (const id of ids) {
          yield* say(app, conversationId, id, {}, id)
          yield* app.quiet
        }
        const turn = liveTurn.flatMap((type) => [type, type])
        assert.deepStrictEqual(
          outline(app).slice(before).toSorted(),
          ids.flatMap((id) => [`answer ${id}`, ...turn]).toSorted(),
        )
        for (const [index, line] of outline(app).slice(before).entries()) {
          if (line.startsWith("answer")) assert.strictEqual(index % (1 + turn.length), 0)
        }
      }),
    ),
  )

  it.effect("returns the turn that it started or joined", () =>
    withApp({ script: slow }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        const first = resultOf(yield* say(app, conversationId, "one", {}, 1))
        const second = resultOf(yield* say(app, conversationId, "two", {}, 2))
        assert.deepStrictEqual(
          [first, second],
          [
            { turnId: "0", disposition: "started" },
            { turnId: "0", disposition: "joined" },
          ],
        )
      }),
    ),
  )

  it.effect.each([
    ["queue", { turnId: "0", disposition: "joined" }],
    ["steer", { turnId: "0", disposition: "joined" }],
    ["wait", { turnId: "1", disposition: "waiting" }],
    ["interrupt", { turnId: "1", disposition: "waiting" }],
  ])("while a turn runs it follows `%s`", ([whileRunning, expected]) =>
    withApp({ script: slow }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        yield* say(app, conversationId, "one", {}, 1)
        yield* app.quiet
        const answer = yield* say(app, conversationId, "two", { whileRunning }, 2)
        assert.deepStrictEqual(resultOf(answer), expected as object)
        for (let i = 0; i < 10; i++) {
          yield* TestClock.adjust("1 second")
          yield* app.quiet
        }
        assert.strictEqual(answers(app).at(-1), "you said two")
        assert.strictEqual(typesOf(app).includes("turn_aborted"), whileRunning === "interrupt")
      }),
    ),
  )

  it.effect("`reject` fails while a turn runs, `steer` while none does", () =>
    withApp({ script: slow }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        const steer = errorOf(yield* say(app, conversationId, "x", { whileRunning: "steer" }, 1))
        yield* say(app, conversationId, "one", {}, 2)
        const reject = errorOf(yield* say(app, conversationId, "x", { whileRunning: "reject" }, 3))
        assert.deepStrictEqual([steer.code, reject.code], [-32600, -32600])
        assert.match(String(steer.message), /no turn/)
        assert.match(String(reject.message), /turn.* runs|running/)
      }),
    ),
  )

  it.effect("a repeated submission id gets the same response, and nothing else happens", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        const more = { submissionId: "mine" }
        const first = resultOf(yield* say(app, conversationId, "hi", more, 1))
        yield* app.quiet
        assert.deepStrictEqual(resultOf(yield* say(app, conversationId, "hi", more, 2)), first)
        yield* app.quiet
        assert.deepStrictEqual(typesOf(app), liveTurn)
      }),
    ),
  )

  it.effect("accepts images; an empty message is accepted and does nothing", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        const params = (items: ReadonlyArray<unknown>) => ({ conversationId, items })
        yield* app.ask(1, "sendUserMessage", params([]))
        yield* app.quiet
        assert.deepStrictEqual(typesOf(app), [])
        const image = { type: "image", data: { image_url: "data:image/png;base64,AAAA" } }
        yield* app.ask(2, "sendUserMessage", params([...text("see"), image]))
        yield* app.quiet
        assert.deepStrictEqual(typesOf(app), liveTurn)
        const [request] = yield* app.provider.requests
        assert.include(JSON.stringify(request), "data:image/png;base64,AAAA")
      }),
    ),
  )

  it.effect.each([
    [{ conversationId: unknownId, items: text("x") }, `conversation not found: ${unknownId}`],
    [{ conversationId: "not-a-uuid", items: text("x") }, "Invalid request: params.conversationId"],
    [{ conversationId: unknownId }, "Invalid request: params.items: Missing key"],
    [{ conversationId: unknownId, items: "x" }, "Invalid request: params.items"],
    // The flat form of the core and of MCP is not the form of this dialect.
    [{ conversationId: unknownId, items: [{ type: "text", text: "x" }] }, "Invalid request: "],
    [{ conversationId: unknownId, items: [{ type: "sound" }] }, "Invalid request: params.items.0"],
    [
      { conversationId: unknownId, items: [], whileRunning: "shout" },
      "Invalid request: params.whileRunning",
    ],
  ] as ReadonlyArray<Refusal>)("refuses %j", ([params, beginning]) =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const { code, message } = errorOf(yield* app.ask(1, "sendUserMessage", params))
        assert.strictEqual(code, -32600)
        assert.isTrue(String(message).startsWith(beginning), String(message))
      }),
    ),
  )
})
