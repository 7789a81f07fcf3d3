import { assert, it } from "@effect/vitest"
import { Agent } from "colloquy/testing"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

/** Stands for the real provider, which is used where `httpClient` is left out. */
const provider = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) =>
    Effect.sync(() => {
      const delta = { choices: [{ delta: { content: "It is sunny." }, finish_reason: "stop" }] }
      const body = `data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`
      const headers = { "content-type": "text/event-stream" }
      return HttpClientResponse.fromWeb(request, new Response(body, { headers }))
    }),
  ),
)

const forecaster = (httpClient: Layer.Layer<HttpClient.HttpClient>) =>
  Agent.make({
    instructions: "You know the weather.",
    model: Agent.chatCompletions("any", {
      baseUrl: "https://models.example/v1",
      apiKey: "sk-0123456789abcdef",
      httpClient,
    }),
  })

const ask = (agent: Agent.Agent, text: string) =>
  Effect.flatMap(agent.open(), (chat) => chat.ask(text).result).pipe(Effect.scoped, Agent.settle)

it.effect("a recording is replayed without the provider, and has no key in it", () =>
  Effect.gen(function* () {
    const recorder = Agent.record({ httpClient: provider })
    yield* ask(forecaster(recorder.httpClient), "How is the weather?")
    // What a test keeps in a file beside it.
    const json = JSON.stringify(recorder.recording(), null, 2)
    assert.notInclude(json, "0123456789abcdef")

    const replay = Agent.replay(JSON.parse(json))
    const { text } = yield* ask(forecaster(replay.httpClient), "How is the weather?")
    assert.strictEqual(text, "It is sunny.")
    assert.strictEqual(replay.left(), 0)

    const other = Agent.replay(JSON.parse(json))
    const error = yield* Effect.flip(ask(forecaster(other.httpClient), "How is the sea?"))
    assert.include(error.message, 'is \\"How is the sea?\\"')
  }),
)
