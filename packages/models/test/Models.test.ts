import { ModelClient } from "@colloquy/core/ModelClient"
import * as MemoryProvider from "@colloquy/testing/MemoryProvider"
import { reply, text } from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as ModelRouter from "../src/ModelRouter.ts"
import * as Models from "../src/Models.ts"
import { offlineProvider, openaiProvider, ossProvider } from "../src/Providers.ts"
import { provider, request, user } from "./support/Requests.ts"

const answer = (client: ModelClient["Service"], asked: ReturnType<typeof request>) =>
  Effect.map(Stream.runCollect(client.stream(asked)), (events) => events[0])

describe("Models", () => {
  it.effect("sends each request to its provider's client", () =>
    Effect.gen(function* () {
      const mock = yield* MemoryProvider.make(() => reply(text("from the wire")))
      const ask = Effect.gen(function* () {
        const client = yield* ModelClient
        return yield* Effect.forEach(["offline", "responses", "chat"] as const, (wire) =>
          answer(client, request({ provider: provider(wire), input: [user("say hi")] })),
        )
      })
      const layer = Layer.provide(Models.layer({ script: [[{ text: "scripted" }]] }), mock.layer)
      assert.deepStrictEqual(yield* Effect.provide(ask, layer), [
        { _tag: "TextDelta", delta: "scripted" },
        { _tag: "TextDelta", delta: "from the wire" },
        { _tag: "TextDelta", delta: "from the wire" },
      ])
      assert.deepStrictEqual(
        (yield* mock.requests).map(({ wire }) => wire),
        ["responses", "chat"],
      )
    }),
  )

  it.effect("creates the HTTP client once, and not before it is needed", () =>
    Effect.gen(function* () {
      let made = 0
      const client = yield* ModelRouter.make(
        Effect.sync(() => {
          made++
          return { stream: () => Stream.empty }
        }),
      )
      yield* answer(client, request({ provider: provider("offline") }))
      assert.strictEqual(made, 0)
      yield* answer(client, request())
      yield* answer(client, request())
      assert.strictEqual(made, 1)
    }),
  )
})

describe("Providers", () => {
  it("have the addresses of the original", () => {
    const facts = [
      openaiProvider(),
      openaiProvider({ baseUrl: "http://gateway/v1" }),
      ossProvider(),
      offlineProvider,
    ].map(({ id, wire, baseUrl, envKey }) => ({ id, wire, baseUrl, envKey }))
    assert.deepStrictEqual(facts, [
      {
        id: "openai",
        wire: "responses",
        baseUrl: "https://api.openai.com/v1",
        envKey: "OPENAI_API_KEY",
      },
      {
        id: "openai",
        wire: "responses",
        baseUrl: "http://gateway/v1",
        envKey: "OPENAI_API_KEY",
      },
      { id: "oss", wire: "chat", baseUrl: "http://localhost:11434/v1", envKey: undefined },
      { id: "offline", wire: "offline", baseUrl: "", envKey: undefined },
    ])
  })
})
