import * as MemoryProvider from "@colloquy/testing/MemoryProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { Agent } from "../src/index.ts"

const environment = ConfigProvider.layer(
  ConfigProvider.fromUnknown({ OPENAI_API_KEY: "sk-environment", OTHER_KEY: "sk-other" }),
)

/** The request that a model of these options sends. */
const sent = (of: "openai" | "chatCompletions", given: Agent.ProviderOptions) =>
  Effect.gen(function* () {
    const provider = yield* MemoryProvider.make([Script.reply(Script.text("hello"))])
    const options = { ...given, httpClient: provider.layer }
    const model =
      of === "openai" ? Agent.openai("gpt-5", options) : Agent.chatCompletions("gpt-5", options)
    const chat = yield* Agent.make({ instructions: "Be brief.", model }).open()
    assert.strictEqual((yield* chat.ask("hi").result).text, "hello")
    const [request] = yield* provider.requests
    return { url: request?.url, authorization: request?.headers["authorization"] }
  }).pipe(Effect.provide(environment))

describe("providers", () => {
  it.effect("OpenAI gets the key of the environment", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* sent("openai", {}), {
        url: "https://api.openai.com/v1/responses",
        authorization: "Bearer sk-environment",
      })
    }),
  )

  it.effect("another address gets no key that was not meant for it", () =>
    Effect.gen(function* () {
      const baseUrl = "http://127.0.0.1:8080/v1/"
      const url = "http://127.0.0.1:8080/v1/chat/completions"
      assert.deepStrictEqual(yield* sent("chatCompletions", { baseUrl }), {
        url,
        authorization: undefined,
      })
      assert.deepStrictEqual(yield* sent("chatCompletions", { baseUrl, apiKey: "sk-mine" }), {
        url,
        authorization: "Bearer sk-mine",
      })
      assert.deepStrictEqual(
        yield* sent("chatCompletions", { baseUrl, apiKeyVariable: "OTHER_KEY" }),
        { url, authorization: "Bearer sk-other" },
      )
    }),
  )

  it.effect("a missing key is a typed error that names the variable", () =>
    Effect.gen(function* () {
      const chat = yield* Agent.make({ instructions: "", model: Agent.openai("gpt-5") }).open()
      const error = yield* Effect.flip(chat.ask("hi").result)
      assert.strictEqual(error._tag, "TurnFailed")
      assert.include(error.message, "OPENAI_API_KEY")
    }).pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({})))),
  )

  it("an address that is none is refused", () => {
    assert.throws(
      () => Agent.openai("gpt-5", { baseUrl: "localhost:8080" }),
      "Agent.openai baseUrl: expected an address that begins with http:// or https://",
    )
  })
})
