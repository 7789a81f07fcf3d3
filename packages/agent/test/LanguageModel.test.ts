import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as AiError from "effect/ai/AiError"
import * as AiTool from "effect/ai/Tool"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent } from "../src/testing/index.ts"

const finish: Response.StreamPartEncoded = {
  type: "finish",
  reason: "stop",
  usage: {
    inputTokens: { uncached: 5, total: 7, cacheRead: 2, cacheWrite: undefined },
    outputTokens: { total: 3, text: 3, reasoning: undefined },
  },
  response: undefined,
}

const text = (delta: string): ReadonlyArray<Response.StreamPartEncoded> => [
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta },
  { type: "text-end", id: "1" },
  finish,
]

/** A language model whose n-th request streams the n-th parts. */
const languageModel = (
  ...responses: ReadonlyArray<
    | ReadonlyArray<Response.StreamPartEncoded>
    | Stream.Stream<Response.StreamPartEncoded, AiError.AiError>
  >
) => {
  const requests: Array<LanguageModel.ProviderOptions> = []
  const made = LanguageModel.make({
    generateText: () => Effect.die("not used"),
    streamText: (options) => {
      requests.push(options)
      const response = responses[requests.length - 1] ?? []
      return Stream.isStream(response) ? response : Stream.fromIterable(response)
    },
  })
  return { requests, layer: Layer.effect(LanguageModel.LanguageModel, made) }
}

const Weather = AiTool.make("weather", {
  description: "The weather of a place.",
  parameters: Schema.Struct({ place: Schema.String }),
  success: Schema.String,
  needsApproval: ({ place }) => place === "Mars",
})
const WeatherKit = Toolkit.make(Weather)
const weather = WeatherKit.toLayer({ weather: ({ place }) => Effect.succeed(`rain in ${place}`) })

describe("a LanguageModel as model", () => {
  it.effect("calls tools of a Toolkit and answers", () =>
    Effect.gen(function* () {
      const model = languageModel(
        [
          { type: "tool-call", id: "c1", name: "weather", params: { place: "Rome" } },
          { ...finish, reason: "tool-calls" },
        ],
        text("It rains."),
      )
      const agent = Agent.make({
        instructions: "Be brief.",
        model: model.layer,
        tools: [Agent.toolkit(WeatherKit)],
      })
      const chat = yield* agent.open()
      const { text: answer, usage } = yield* chat.ask("Rome?").result
      assert.strictEqual(answer, "It rains.")
      assert.strictEqual(usage.total_tokens, 20)
      const last = model.requests[1]?.prompt.content ?? []
      assert.deepStrictEqual(
        last.map(({ role }) => role),
        ["system", "user", "assistant", "tool"],
      )
      assert.include(JSON.stringify(last), "rain in Rome")
      assert.deepStrictEqual(
        model.requests[0]?.tools.map(({ name }) => name),
        ["weather"],
      )
    }).pipe(Effect.provide(weather)),
  )

  it.effect("a tool of a Toolkit asks, with its decoded input", () =>
    Effect.gen(function* () {
      const test = Agent.test({
        tools: [Agent.toolkit(WeatherKit)],
        script: [Agent.calls("weather", { place: "Mars" }), "done"],
      })
      const chat = yield* test.open()
      yield* chat.ask("Mars?", { onApproval: ({ input }) => input.place !== "Mars" }).result
      assert.deepStrictEqual(test.sent().outputs, ["tool call rejected by user"])
    }).pipe(Effect.provide(weather)),
  )
})

describe("a LanguageModel that fails", () => {
  const start: Response.StreamPartEncoded = { type: "text-start", id: "1" }
  const partial: Response.StreamPartEncoded = { type: "text-delta", id: "1", delta: "It" }

  it.effect.each<readonly [reason: Response.FinishReason, why: string]>([
    ["length", "the model reached the limit of output tokens"],
    ["content-filter", "the content filter of the provider stopped the answer"],
    ["error", "the provider reported an error"],
  ])("a response that ends by `%s` is no answer", ([reason, why]) =>
    Effect.gen(function* () {
      const model = languageModel([
        start,
        partial,
        { type: "text-end", id: "1" },
        { ...finish, reason },
      ])
      const chat = yield* Agent.make({ instructions: "", model: model.layer }).open()
      const error = yield* Effect.flip(chat.ask("Rome?").result)
      assert.strictEqual(error._tag, "TurnFailed")
      assert.include(error.message, `incomplete response: ${why} (finish reason \`${reason}\`)`)
    }),
  )

  it.effect("an error in the stream is tried again, and the partial text is no answer", () =>
    Effect.gen(function* () {
      const broken: Response.StreamPartEncoded = { type: "error", error: new Error("overloaded") }
      const model = languageModel([start, partial, broken], text("It rains."))
      const chat = yield* Agent.make({ instructions: "", model: model.layer }).open()
      const fiber = yield* Effect.forkChild(chat.ask("Rome?").result, { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(fiber)).text, "It rains.")
    }),
  )

  it.effect("is not sent an image again that it refuses", () =>
    Effect.gen(function* () {
      const refused = AiError.make({
        module: "Test",
        method: "streamText",
        reason: new AiError.InvalidRequestError({
          description: "missing data required for image input",
        }),
      })
      const model = languageModel(Stream.fail(refused), text("fine"), Stream.fail(refused))
      const chat = yield* Agent.make({ instructions: "", model: model.layer }).open()
      const image = { type: "image", image_url: "data:image/png;base64,AAAA" } as const
      const error = yield* Effect.flip(chat.ask([image]).result)
      assert.include(error.message, "the model provider refused an image (image/png, 3 bytes)")
      assert.strictEqual((yield* chat.ask("go on").result).text, "fine")
      assert.notInclude(JSON.stringify(model.requests[1]?.prompt), "image/png")
      const other = yield* Effect.flip(chat.ask("and on").result)
      assert.notInclude(other.message, "the model provider refused")
    }),
  )

  it.effect("is sent an image whose address is none as it is", () =>
    Effect.gen(function* () {
      const model = languageModel(text("a house"))
      const chat = yield* Agent.make({ instructions: "", model: model.layer }).open()
      yield* chat.ask([{ type: "image", image_url: "house.png" }]).result
      assert.include(JSON.stringify(model.requests[0]?.prompt), "house.png")
    }),
  )
})

describe("a chat as LanguageModel", () => {
  it.effect("generates and streams text by turns of the conversation", () =>
    Effect.gen(function* () {
      const test = Agent.test({ script: ["one", "two"] })
      const chat = yield* test.agent.open()
      const model = yield* Agent.languageModel(chat)
      const first = yield* model.generateText({ prompt: "a" })
      assert.strictEqual(first.text, "one")
      const parts = yield* Stream.runCollect(
        model.streamText({
          prompt: [
            { role: "user", content: "a" },
            { role: "assistant", content: "one" },
            { role: "user", content: "b" },
          ],
        }),
      )
      assert.deepStrictEqual(
        parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : [])),
        ["two"],
      )
      assert.deepStrictEqual(test.sent().messages, ["user: a", "assistant: one", "user: b"])
    }),
  )

  it.effect("generates objects", () =>
    Effect.gen(function* () {
      const test = Agent.test({ script: ['{"place":"Rome"}'] })
      const model = yield* Agent.languageModel(yield* test.agent.open())
      const { value } = yield* model.generateObject({
        prompt: "where?",
        schema: Schema.Struct({ place: Schema.String }),
      })
      assert.deepStrictEqual(value, { place: "Rome" })
      assert.include(test.sent().messages[0], "JSON Schema")
    }),
  )

  it.effect(
    "generates objects of values without a JSON form by the JSON codec of their schema",
    () =>
      Effect.gen(function* () {
        const test = Agent.test({ script: ['{"wait":"5"}'] })
        const model = yield* Agent.languageModel(yield* test.agent.open())
        const schema = Schema.Struct({ wait: Schema.BigInt })
        const { value } = yield* model.generateObject({ prompt: "how long?", schema })
        assert.deepStrictEqual(value, { wait: 5n })
      }),
  )

  it.effect("asks with the images of the prompt, and refuses other files", () =>
    Effect.gen(function* () {
      const test = Agent.test({ script: ["a house"] })
      const model = yield* Agent.languageModel(yield* test.agent.open())
      const ask = (mediaType: string) =>
        model.generateText({
          prompt: [
            {
              role: "user",
              content: [
                { type: "text", text: "What is it?" },
                { type: "file", mediaType, data: Uint8Array.from([1, 2, 3]) },
              ],
            },
          ],
        })
      yield* ask("image/png")
      assert.include(JSON.stringify(test.model.requests[0]?.input), "data:image/png;base64,AQID")
      const error = yield* Effect.flip(ask("application/pdf"))
      assert.include(error.message, "expected texts and images, got a file of type application/pdf")
      assert.lengthOf(test.model.requests, 1)
    }),
  )

  it.effect("a failed turn is an AiError", () =>
    Effect.gen(function* () {
      const test = Agent.test({ script: [Agent.fails("gone")] })
      const model = yield* Agent.languageModel(yield* test.agent.open())
      const error = yield* Effect.flip(model.generateText({ prompt: "a" }))
      assert.include(error.message, "TurnFailed: gone")
    }),
  )
})
