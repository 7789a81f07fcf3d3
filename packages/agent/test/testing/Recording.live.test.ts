/** Records what a provider on a socket of this machine sends, with `fetch`, and replays it without it. */
import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Provider from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as HttpClient from "effect/http/HttpClient"
import { Agent } from "../../src/testing/index.ts"

const key = "sk-live-0123456789abcdefghij"

const talker = (baseUrl: string, httpClient: Layer.Layer<HttpClient.HttpClient>) =>
  Agent.make({
    instructions: "You are kind.",
    model: Agent.openai("gpt-5", { baseUrl, apiKey: key, httpClient }),
  })

describe("Agent.record over a socket", () => {
  it.live("records streams, interrupted ones too, and replays them", () =>
    Effect.gen(function* () {
      const { baseUrl, requests } = yield* MockProvider.make([
        Provider.reply(Provider.deltas("hello ", "there")),
        Provider.reply(Provider.bareDeltas("hm"), Provider.hang),
      ])
      const recorder = Agent.record()
      const talk = (httpClient: Layer.Layer<HttpClient.HttpClient>) =>
        Effect.scoped(
          Effect.gen(function* () {
            const chat = yield* talker(baseUrl, httpClient).open()
            const { text } = yield* chat.ask("hi").result
            const error = yield* Effect.flip(
              chat.ask("again", { budget: { time: "300 millis" } }).result,
            )
            return [text, error._tag]
          }),
        )
      const ended = ["hello there", "BudgetExceeded"]
      assert.deepStrictEqual(yield* talk(recorder.httpClient), ended)
      const recording = recorder.recording()
      assert.deepStrictEqual(
        recording.exchanges.map(({ response }) => ("end" in response ? response.end : "failure")),
        ["complete", "cancelled"],
      )
      assert.notInclude(JSON.stringify(recording), "0123456789")
      const replay = Agent.replay(JSON.parse(JSON.stringify(recording)))
      assert.deepStrictEqual(yield* talk(replay.httpClient), ended)
      assert.isUndefined(replay.difference())
      assert.strictEqual(replay.left(), 0)
      // The replay sent nothing.
      assert.lengthOf(yield* requests, 2)
    }),
  )
})
