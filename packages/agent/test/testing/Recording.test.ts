import * as MemoryProvider from "@colloquy/testing/MemoryProvider"
import * as Provider from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as HttpClient from "effect/http/HttpClient"
import * as Schema from "effect/Schema"
import { Agent } from "../../src/testing/index.ts"

const key = "sk-proj-0123456789abcdefghij"

const refund = Agent.tool("refund", {
  input: { order: Schema.String },
  run: ({ order }) => Effect.succeed(`refunded ${order}`),
})

type Wire = "openai" | "chatCompletions"

const till = (httpClient: Layer.Layer<HttpClient.HttpClient>, wire: Wire = "openai") =>
  Agent.make({
    instructions: "You are a till.",
    model: (wire === "openai" ? Agent.openai : Agent.chatCompletions)("gpt-5", {
      apiKey: key,
      httpClient,
      headers: { "x-account": "acme" },
    }),
    tools: [refund],
  })

const script = [
  Provider.reply(Provider.toolCall("refund", { order: "A1" }, "call_8kJ2mN4pQ6rS")),
  Provider.reply(
    Provider.deltas(
      "your key is sk-pr",
      "oj-0123456789",
      "abcdefghij, and ",
      "ghp_0123456789abcdefgh",
    ),
  ),
]

/** Runs a turn, and gives its answer or its error. */
const answerOf = <Q>(agent: Agent.Agent<Q>, text = "refund A1, my password=hunter2") =>
  Effect.flatMap(agent.open(), (chat) =>
    Effect.match(chat.ask(text).result, {
      onSuccess: (result) => result.text,
      onFailure: (error) => `${error._tag}: ${error.message}`,
    }),
  ).pipe(Effect.scoped, Agent.settle)

const recorded = (wire: Wire = "openai") =>
  Effect.gen(function* () {
    const provider = yield* MemoryProvider.make(script)
    const saves: Array<number> = []
    const recorder = Agent.record({
      httpClient: provider.layer,
      save: ({ exchanges }) => Effect.sync(() => saves.push(exchanges.length)),
    })
    const answer = yield* answerOf(till(recorder.httpClient, wire))
    return { answer, saves, json: JSON.stringify(recorder.recording(), null, 1) }
  })

describe("record and replay", () => {
  for (const wire of ["openai", "chatCompletions"] as const) {
    it.effect(`a recording over ${wire} has no secrets, and equals that of another run`, () =>
      Effect.gen(function* () {
        const { answer, json, saves } = yield* recorded(wire)
        assert.include(answer, key)
        assert.deepStrictEqual(saves, [1, 2])
        for (const part of ["sk-pr", "0123456789", "abcdefghij", "ghp_", "hunter2", "acme"]) {
          assert.notInclude(json, part)
        }
        assert.notMatch(json, /[0-9a-f]{8}-[0-9a-f]{4}-7|8kJ2/)
        assert.include(json, "call_1")
        assert.strictEqual((yield* recorded(wire)).json, json)
      }),
    )

    it.effect(`a replay over ${wire} gives the recorded turn, with the tools of the agent`, () =>
      Effect.gen(function* () {
        const replay = Agent.replay(JSON.parse((yield* recorded(wire)).json))
        const answer = yield* answerOf(till(replay.httpClient, wire))
        assert.strictEqual(answer, "your key is <secret>, and <secret>")
        assert.isUndefined(replay.difference())
        assert.strictEqual(replay.left(), 0)
      }),
    )
  }

  it.effect("the first difference from the recording is the error of the turn", () =>
    Effect.gen(function* () {
      const replay = Agent.replay(JSON.parse((yield* recorded()).json))
      const answer = yield* answerOf(till(replay.httpClient), "refund B2")
      assert.include(answer, "TurnFailed")
      assert.include(answer, "request 1.body.input[0].content[0].text")
      assert.include(replay.difference(), `is "refund B2", and was "refund A1, my <secret>"`)
    }),
  )

  it.effect("a request after the last one is an error", () =>
    Effect.gen(function* () {
      const { exchanges } = JSON.parse((yield* recorded()).json)
      const replay = Agent.replay({ version: 1, exchanges: exchanges.slice(0, 1) })
      assert.include(
        yield* answerOf(till(replay.httpClient)),
        "request 2 is not in the recording, which has 1",
      )
    }),
  )

  it.effect("broken and refused connections are recorded and repeated", () =>
    Effect.gen(function* () {
      const provider = yield* MemoryProvider.make([
        { _tag: "Refuse" },
        { _tag: "Stream", steps: [Provider.text("half"), { _tag: "Drop" }], usage: null },
        Provider.reply(Provider.text("done")),
      ])
      const recorder = Agent.record({ httpClient: provider.layer })
      assert.strictEqual(yield* answerOf(till(recorder.httpClient)), "done")
      const recording = recorder.recording()
      assert.deepStrictEqual(
        recording.exchanges.map(({ response }) => ("end" in response ? response.end : "failure")),
        ["failure", "broken", "complete"],
      )
      const replay = Agent.replay(JSON.parse(JSON.stringify(recording)))
      assert.strictEqual(yield* answerOf(till(replay.httpClient)), "done")
      assert.strictEqual(replay.left(), 0)
    }),
  )

  it.effect("conversations that ask at the same time may be answered in another order", () =>
    Effect.gen(function* () {
      // The later a chat asks first, the sooner it is answered.
      const provider = yield* MemoryProvider.make(({ index }) =>
        Provider.reply(Provider.delay(Math.max(1, 3 - index)), Provider.text(`answer ${index}`)),
      )
      const both = (httpClient: Layer.Layer<HttpClient.HttpClient>) =>
        Effect.gen(function* () {
          const agent = till(httpClient)
          const answers = (name: string) =>
            Effect.gen(function* () {
              const chat = yield* agent.open()
              const first = yield* chat.ask(`first of ${name}`).result
              const second = yield* chat.ask(`second of ${name}`).result
              return [first.text, second.text]
            })
          return yield* Effect.forEach(["a", "b", "c"], answers, { concurrency: "unbounded" })
        }).pipe(Effect.scoped, Agent.settle)
      const recorder = Agent.record({ httpClient: provider.layer })
      const recorded = yield* both(recorder.httpClient)
      const replay = Agent.replay(recorder.recording())
      assert.deepStrictEqual(yield* both(replay.httpClient), recorded)
      assert.strictEqual(replay.left(), 0)
    }),
  )

  it("what is no recording is refused, with the place", () => {
    assert.throws(() => Agent.replay({ version: 1, exchanges: [{}] }), /\["exchanges"\]\[0\]/)
    assert.throws(() => Agent.replay({ version: 2, exchanges: [] }), /version/)
    assert.throws(() => Agent.replay('{"version":1,"exchanges":[]}'), /parsed from its JSON/)
  })
})
