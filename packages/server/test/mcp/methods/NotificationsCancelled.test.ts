import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  cancelled,
  defaultAnswer,
  defaultReply,
  type Harness,
  toolCall,
  withServer,
  listed,
} from "../../support/Harness.ts"
import { event, eventsOf, textOf, threadOf, typesOf } from "../../support/Wire.ts"

const script = Script.byLastUserText([
  ["hang", Script.reply(Script.bareDeltas("par"), Script.hang)],
  ["silent", Script.silence],
  ["", defaultReply],
])

const responses = ({ messages }: Harness, id: unknown) =>
  messages.filter((message) => message.method === undefined && message.id === id)

const onlyConversation = (server: Harness) =>
  Effect.gen(function* () {
    const ids = yield* listed(server.manager)
    assert.strictEqual(ids.length, 1)
    return yield* Effect.orDie(server.manager.get(ids[0] ?? ""))
  })

describe("notifications/cancelled", () => {
  it.effect("stops a call mid-stream: turn_aborted, no response, the model is released", () =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        yield* server.send(toolCall(2, "codex", { prompt: "hang" }))
        yield* server.quiet
        assert.deepStrictEqual(typesOf(server.messages, 2), [
          "session_configured",
          "task_started",
          "agent_message_delta",
        ])
        yield* server.send(cancelled(2))
        yield* server.quiet
        assert.deepStrictEqual(eventsOf(server.messages, 2).at(-1)?.msg, {
          type: "turn_aborted",
          reason: "interrupted",
        })
        assert.deepStrictEqual(responses(server, 2), [])
        assert.deepStrictEqual(yield* server.provider.closed, [0])
        const { id } = yield* onlyConversation(server)
        const after = yield* server.call(3, "codex-reply", { threadId: id, prompt: "go on" })
        assert.strictEqual(textOf(after), defaultAnswer)
        assert.deepStrictEqual(typesOf(server.messages, 3), [
          "task_started",
          "agent_message_delta",
          "agent_message",
          "token_count",
          "task_complete",
        ])
        assert.deepStrictEqual(responses(server, 2), [])
        // The same id may be used again.
        assert.strictEqual(textOf(yield* server.call(2, "codex", { prompt: "x" })), defaultAnswer)
      }),
    ),
  )

  it.effect(
    "L4 the text that was streamed before is delivered, recorded, and part of the next request",
    () =>
      withServer({ script }, (server) =>
        Effect.gen(function* () {
          yield* server.send(toolCall(2, "codex", { prompt: "hang" }))
          yield* server.quiet
          yield* server.send(cancelled(2))
          yield* server.quiet
          assert.deepStrictEqual(
            eventsOf(server.messages, 2)
              .slice(-2)
              .map(({ msg }) => msg),
            [
              { type: "agent_message", message: "par" },
              { type: "turn_aborted", reason: "interrupted" },
            ],
          )
          const { id } = yield* onlyConversation(server)
          yield* server.call(3, "codex-reply", { threadId: id, prompt: "go on" })
          const requests = yield* server.provider.requests
          assert.include(JSON.stringify(requests.at(-1)?.body), '"text":"par"')
        }),
      ),
  )

  it.effect.each(["hang", "silent", "x"])(
    "sent right after the call, in one batch: nothing continues to run and nothing is answered: %s",
    (prompt) =>
      withServer({ script }, (server) =>
        Effect.gen(function* () {
          yield* server.send(toolCall(2, "codex", { prompt }), cancelled(2))
          yield* server.quiet
          assert.deepStrictEqual(responses(server, 2), [])
          for (const id of yield* listed(server.manager)) {
            const conversation = yield* Effect.orDie(server.manager.get(id))
            assert.isUndefined((yield* conversation.state).turn)
          }
          const [requests, closed] = [
            yield* server.provider.requests,
            yield* server.provider.closed,
          ]
          assert.strictEqual(closed.length, requests.length, "a request to the model is still open")
          assert.notInclude(typesOf(server.messages, 2), "task_complete")
          assert.deepStrictEqual((yield* server.ask(3, "ping")).result, {})
        }),
      ),
  )

  it.effect(
    "L1 an id whose call was cancelled and is still stopping is refused with the id: no other response has it",
    () =>
      withServer({ script }, (server) =>
        Effect.gen(function* () {
          yield* server.send(toolCall(2, "codex", { prompt: "hang" }))
          yield* server.quiet
          yield* server.send(cancelled(2), { jsonrpc: "2.0", id: 2, method: "ping" })
          yield* server.quiet
          const errors = responses(server, 2).map(({ error }) => error?.code)
          assert.deepStrictEqual(errors, [-32600])
        }),
      ),
  )

  it.effect("of an unknown or finished id is ignored", () =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        const answer = yield* server.call(2, "codex", { prompt: "x" })
        const count = server.texts.length
        yield* server.send(cancelled(2), cancelled("2"), cancelled(99), cancelled(""))
        yield* server.quiet
        assert.strictEqual(server.texts.length, count)
        const reply = yield* server.call(3, "codex-reply", {
          threadId: threadOf(answer),
          prompt: "x",
        })
        assert.strictEqual(textOf(reply), defaultAnswer)
      }),
    ),
  )

  it.effect.each([undefined, {}, { requestId: null }, { requestId: 1.5 }, [2], "2"])(
    "with bad parameters is ignored: %j",
    (params) =>
      withServer({ script }, (server) =>
        Effect.gen(function* () {
          yield* server.send(toolCall(2, "codex", { prompt: "hang" }))
          yield* server.quiet
          const count = server.texts.length
          yield* server.send({ jsonrpc: "2.0", method: "notifications/cancelled", params })
          yield* server.quiet
          assert.strictEqual(server.texts.length, count)
          yield* server.send(cancelled(2))
          yield* server.quiet
          assert.include(typesOf(server.messages, 2), "turn_aborted")
        }),
      ),
  )

  it.effect('tells the ids 1 and "1" apart', () =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        yield* server.send(
          toolCall(1, "codex", { prompt: "hang" }),
          toolCall("1", "codex", { prompt: "hang" }),
        )
        yield* server.quiet
        yield* server.send(cancelled("1"))
        yield* server.quiet
        assert.include(typesOf(server.messages, "1"), "turn_aborted")
        assert.notInclude(typesOf(server.messages, 1), "turn_aborted")
      }),
    ),
  )

  it.effect("finds a request whose id is beyond the integers of a double", () =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        const [one, other] = ["9007199254740993", "9007199254740992"]
        const text = (id: string) =>
          JSON.stringify(toolCall(0, "codex", { prompt: "hang" })).replace(`"id":0`, `"id":${id}`)
        yield* server.sendTexts(text(one), text(other))
        yield* server.quiet
        yield* server.sendTexts(JSON.stringify(cancelled(0)).replace(`Id":0`, `Id":${one}`))
        yield* server.quiet
        assert.include(typesOf(server.messages, `#${one}`), "turn_aborted")
        assert.notInclude(typesOf(server.messages, `#${other}`), "turn_aborted")
      }),
    ),
  )

  it.effect(
    "drops a codex-reply that waits for a running turn, and does not affect that turn",
    () =>
      withServer({ script }, (server) =>
        Effect.gen(function* () {
          yield* server.send(toolCall(2, "codex", { prompt: "hang" }))
          yield* server.quiet
          const { id } = yield* onlyConversation(server)
          yield* server.send(toolCall(3, "codex-reply", { threadId: id, prompt: "waits" }))
          yield* server.quiet
          yield* server.send(cancelled(3))
          yield* server.quiet
          assert.deepStrictEqual(typesOf(server.messages, 3), ["turn_aborted"])
          assert.deepStrictEqual(responses(server, 3), [])
          assert.notInclude(typesOf(server.messages, 2), "turn_aborted")
          // Only the running turn continues: there is no second request to the model.
          yield* server.send(cancelled(2))
          yield* server.quiet
          assert.strictEqual((yield* server.provider.requests).length, 1)
          const answer = yield* server.call(4, "codex-reply", { threadId: id, prompt: "x" })
          assert.strictEqual(textOf(answer), defaultAnswer)
        }),
      ),
  )

  it.effect("L5 every accepted turn ends in one terminal event, also the cancelled ones", () =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        for (let id = 1; id <= 8; id++) {
          const prompt = id % 2 === 0 ? "hang" : "x"
          yield* server.send(toolCall(id, "codex", { prompt }))
          if (id % 4 < 2) yield* server.quiet
          yield* server.send(cancelled(id))
        }
        yield* server.quiet
        for (let id = 1; id <= 8; id++) {
          const ends = typesOf(server.messages, id).filter(
            (type) => type === "task_complete" || type === "turn_aborted",
          )
          const started = typesOf(server.messages, id).includes("task_started")
          assert.strictEqual(ends.length, started ? 1 : 0, `request ${id}`)
          assert.isAtMost(responses(server, id).length, 1)
        }
        assert.isTrue(
          server.messages
            .filter((m) => m.method !== undefined)
            .every((m) => event(m).id !== "" || event(m).msg.type === "session_configured"),
        )
      }),
    ),
  )
})
