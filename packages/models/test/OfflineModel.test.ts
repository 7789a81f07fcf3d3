import type { ModelEvent } from "@colloquy/core/ModelClient"
import { ConversationId } from "@colloquy/protocol/Ids"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as OfflineModel from "../src/OfflineModel.ts"
import type { OfflineScript } from "../src/OfflineScript.ts"
import { assistant, call, output, provider, request, user } from "./support/Requests.ts"

const asking = (...input: ReadonlyArray<ResponseItem>) =>
  request({ provider: provider("offline"), input })
const collect = (model: ReturnType<typeof OfflineModel.make>, asked = asking(user("x"))) =>
  Stream.runCollect(model.stream(asked))
const items = (events: ReadonlyArray<ModelEvent>) =>
  events.flatMap((event) => (event._tag === "ItemDone" ? [event.item] : []))
const answer = (...input: ReadonlyArray<ResponseItem>) =>
  Effect.map(collect(OfflineModel.make(), asking(...input)), items)
const said = (text: string) => [assistant(text)]

describe("OfflineModel without a script", () => {
  it.effect("follows directives and quotes messages it does not understand", () =>
    Effect.gen(function* () {
      const prompts = [
        "say  Hello there. ",
        "run: ls -la",
        "patch: *** Begin\n+x\n",
        "plan: a; b ;;c",
        'call: refund {"order":"A1"}',
        "call: look",
      ]
      const answers = yield* Effect.forEach(prompts, (text) => answer(user(text)))
      assert.deepStrictEqual(answers, [
        said("Hello there."),
        [call("call_0_0", "shell", '{"command":["bash","-lc","ls -la"]}')],
        [call("call_0_0", "apply_patch", '{"input":"*** Begin\\n+x\\n"}')],
        [
          call(
            "call_0_0",
            "update_plan",
            '{"plan":[{"step":"a","status":"in_progress"},{"step":"b","status":"pending"},{"step":"c","status":"pending"}]}',
          ),
        ],
        [call("call_0_0", "refund", '{"order":"A1"}')],
        [call("call_0_0", "look", "{}")],
      ])
      assert.deepStrictEqual(
        yield* answer(user(`what\n  now ${"y".repeat(300)}`)),
        said(`This is the offline model \`mock-model\`. It received: what now ${"y".repeat(191)}…`),
      )
    }),
  )

  it.effect("repeats the last tool's output, and its exit code when it failed", () =>
    Effect.gen(function* () {
      const after = (text: string) =>
        answer(user("run: x"), call("call_0_0"), output("call_0_0", text))
      const shell = (text: string, exit_code: number) =>
        JSON.stringify({ output: text, metadata: { exit_code, duration_seconds: 0 } })
      assert.deepStrictEqual(
        [
          yield* after(shell("a.txt\nb.txt\n", 0)),
          yield* after(shell("no such file\n", 2)),
          yield* after(shell("", 0)),
          yield* after("Plan updated"),
        ],
        [
          said("Offline model: the tool finished and said: a.txt b.txt"),
          said("Offline model: the tool finished with exit code 2 and said: no such file"),
          said("Offline model: the tool finished and said nothing."),
          said("Offline model: the tool finished and said: Plan updated"),
        ],
      )
    }),
  )

  it.effect("L12 yields the same words, ids and usage every time", () =>
    Effect.gen(function* () {
      const asked = asking(user("say one two"), assistant("one two"), user("say three  four"))
      const first = yield* collect(OfflineModel.make(), asked)
      const expected: ReadonlyArray<ModelEvent> = [
        { _tag: "TextDelta", delta: "three" },
        { _tag: "TextDelta", delta: "  four" },
        { _tag: "ItemDone", item: assistant("three  four") },
        {
          _tag: "Completed",
          usage: {
            input_tokens: 71,
            cached_input_tokens: 0,
            output_tokens: 3,
            reasoning_output_tokens: 0,
            total_tokens: 74,
          },
        },
      ]
      assert.deepStrictEqual(first, expected)
      assert.deepStrictEqual(yield* collect(OfflineModel.make(), asked), expected)
    }),
  )

  it.effect("streams words at the configured pace", () =>
    Effect.gen(function* () {
      const model = OfflineModel.make({ deltaDelay: "20 millis" })
      const at: Array<readonly [string, number]> = []
      const fiber = yield* Effect.forkChild(
        Stream.runForEach(model.stream(asking(user("say a b c"))), (event) =>
          Effect.map(Clock.currentTimeMillis, (now) => at.push([event._tag, now])),
        ),
      )
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(at, [
        ["TextDelta", 20],
        ["TextDelta", 40],
        ["TextDelta", 60],
        ["ItemDone", 60],
        ["Completed", 60],
      ])
    }),
  )
})

describe("OfflineModel with a script", () => {
  const script: OfflineScript = [
    [
      { reasoning: "Hm hm" },
      { text: "ignored", deltas: ["Look", "ing."] },
      { tool_call: { name: "shell", arguments: { n: 1 } } },
      { custom_tool_call: { name: "apply_patch", input: "P" } },
      { usage: { input_tokens: 5, output_tokens: 2 } },
    ],
    [{ text: "Second." }],
  ]

  it.effect("performs the steps in order, with ids of the position and the usage given", () =>
    Effect.gen(function* () {
      const expected: ReadonlyArray<ModelEvent> = [
        { _tag: "ReasoningSectionBreak" },
        { _tag: "ReasoningDelta", delta: "Hm" },
        { _tag: "ReasoningDelta", delta: " hm" },
        {
          _tag: "ItemDone",
          item: { type: "reasoning", summary: [{ type: "summary_text", text: "Hm hm" }] },
        },
        { _tag: "TextDelta", delta: "Look" },
        { _tag: "TextDelta", delta: "ing." },
        { _tag: "ItemDone", item: assistant("Looking.") },
        { _tag: "ItemDone", item: call("call_0_0", "shell", '{"n":1}') },
        {
          _tag: "ItemDone",
          item: { type: "custom_tool_call", call_id: "call_0_1", name: "apply_patch", input: "P" },
        },
        {
          _tag: "Completed",
          usage: {
            input_tokens: 5,
            cached_input_tokens: 0,
            output_tokens: 2,
            reasoning_output_tokens: 0,
            total_tokens: 7,
          },
        },
      ]
      assert.deepStrictEqual(yield* collect(OfflineModel.make({ script })), expected)
    }),
  )

  it.effect("answers a request for a summary by its rules", () =>
    Effect.gen(function* () {
      const model = OfflineModel.make({ script: [[{ text: "one" }], [{ text: "two" }]] })
      const history = [user("a"), assistant("one")]
      const summary = asking(...history, user("Start Summarization"))
      assert.deepStrictEqual(
        items(yield* collect(model, summary)),
        said("Offline model: 2 items of history; the last answer was: one"),
      )
      assert.deepStrictEqual(
        items(yield* collect(model, asking(user("a"), user("Start Summarization")))),
        said("Offline model: 1 items of history; nothing was answered yet"),
      )
      // A request with tools belongs to a turn: the text is an ordinary message.
      const look = { type: "function", name: "look", description: "", parameters: {} } as const
      assert.deepStrictEqual(
        items(yield* collect(model, { ...summary, tools: [look] })),
        said("two"),
      )
    }),
  )

  it.effect("continues at the history's position, then by the rules", () =>
    Effect.gen(function* () {
      const model = OfflineModel.make({ script })
      const thought: ResponseItem = { type: "reasoning", summary: [] }
      const interrupted = [user("x"), thought, user("again")]
      // The items of one response count once, also with outputs between its calls.
      const whole = [
        user("x"),
        thought,
        assistant("Looking."),
        call("call_0_0"),
        output("call_0_0", "1"),
        call("call_0_1"),
        output("call_0_1", "2"),
      ]
      const all = [...whole, assistant("Second."), user("say done")]
      assert.deepStrictEqual(
        [
          items(yield* collect(model, asking(...interrupted))),
          items(yield* collect(model, asking(...whole))),
          items(yield* collect(model, asking(...all))),
          items(yield* collect(model, asking(...all, assistant("done"), user("run: x")))),
        ],
        [
          said("Second."),
          said("Second."),
          said("done"),
          [call("call_3_0", "shell", '{"command":["bash","-lc","x"]}')],
        ],
      )
    }),
  )

  it.effect(
    "fails when the script says so and continues with the next response when the request is repeated",
    () =>
      Effect.gen(function* () {
        const model = OfflineModel.make({
          script: [
            [{ error: { message: "Bang.", retryable: false } }, { text: "never said" }],
            [],
            [{ text: "par" }, { error: { message: "Boom." } }],
            [{ text: "Fine." }],
            [{ text: "After." }],
          ],
        })
        const other = ConversationId.make("019b2f00-0000-7000-8000-000000000001")
        const fail = (asked = asking(user("x"))) =>
          Effect.map(Effect.flip(collect(model, asked)), (e) => [e.message, e.retryable])
        assert.deepStrictEqual(yield* fail(), ["Bang.", false])
        assert.deepStrictEqual(items(yield* collect(model)), [])
        assert.deepStrictEqual(yield* fail({ ...asking(user("x")), conversationId: other }), [
          "Bang.",
          false,
        ])
        assert.deepStrictEqual(yield* fail(), ["Boom.", true])
        // A finished item is kept, whatever happens to its response.
        const history = [user("x"), assistant("par")]
        assert.deepStrictEqual(items(yield* collect(model, asking(...history))), said("Fine."))
        const later = asking(...history, assistant("Fine."), user("y"))
        assert.deepStrictEqual(items(yield* collect(model, later)), said("After."))
      }),
  )

  it.effect("waits before the step that follows a delay", () =>
    Effect.gen(function* () {
      const model = OfflineModel.make({
        script: [[{ delay_ms: 30 }, { text: "a" }, { delay_ms: 5 }]],
      })
      const fiber = yield* Effect.forkChild(Effect.andThen(collect(model), Clock.currentTimeMillis))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(fiber), 35)
    }),
  )
})
