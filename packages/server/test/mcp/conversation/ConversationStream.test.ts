import { ConversationManager } from "@colloquy/core/ConversationManager"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as McpServer from "../../../src/McpServer.ts"
import {
  created,
  echo,
  initialStates,
  methods,
  liveTurn,
  quietTurn,
  send,
  streamed,
  valueOf,
} from "../../support/Conversing.ts"
import { cancelled, toolCall, withCore, withServer } from "../../support/Harness.ts"
import { callResult, textOf, type WireMessage } from "../../support/Wire.ts"

const settled = Effect.forEach(Array.from({ length: 500 }), () => Effect.yieldNow, {
  discard: true,
})

const initial = "notifications/initial_state"
const disconnected = "notifications/stream_disconnected"

describe("conversationStream", () => {
  it.effect("L2 the response comes first, then the initial state, then live events", () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        const answer = yield* server.call("s", "conversationStream", { conversation_id: id })
        assert.deepStrictEqual(answer.result, {
          content: [{ type: "text", text: "{}" }],
          structuredContent: {},
          isError: false,
        })
        yield* server.quiet
        const _meta = { conversationId: id, requestId: "s" }
        assert.deepStrictEqual(server.messages.slice(server.messages.indexOf(answer) + 1), [
          {
            jsonrpc: "2.0",
            method: initial,
            params: { _meta, initial_state: { events: [] } },
          },
        ])
        yield* send(server, 1, id, "one")
        yield* server.quiet
        assert.deepStrictEqual(methods(server), [initial, ...liveTurn])
        assert.deepStrictEqual(streamed(server)[3], {
          method: "agent_message",
          params: { _meta, msg: { type: "agent_message", message: "you said one" } },
        })
        // `codex/event` is sent only for calls of `codex`.
        assert.isFalse(server.messages.some(({ method }) => method === "codex/event"))
      }),
    ),
  )

  it.effect("the initial state has the missed events, and the text in progress as one delta", () =>
    withServer(
      {
        script: [
          Script.reply(Script.text("first")),
          Script.reply(Script.bareDeltas("be", "gun"), Script.hang),
        ],
      },
      (server) =>
        Effect.gen(function* () {
          const id = yield* created(server)
          yield* send(server, 1, id, "one")
          yield* server.quiet
          yield* send(server, 2, id, "two")
          yield* server.quiet
          assert.deepStrictEqual(methods(server), [])
          yield* server.call(3, "conversationStream", { conversation_id: id })
          yield* server.quiet
          assert.deepStrictEqual(initialStates(server), [
            [...quietTurn, "task_started", "agent_message_delta"],
          ])
          const last = streamed(server)[0]?.params?.["initial_state"] as {
            readonly events: ReadonlyArray<unknown>
          }
          assert.deepStrictEqual(last.events.at(-1), {
            msg: { type: "agent_message_delta", delta: "begun" },
          })
        }),
    ),
  )

  it.effect.each([false, true])(
    "L1 a cancelled stream stops silently, and a new one continues from there (hold: %s)",
    (hold) =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          const id = yield* created(server)
          yield* server.send(toolCall("s", "conversationStream", { conversation_id: id, hold }))
          yield* server.quiet
          yield* send(server, 1, id, "one")
          yield* server.quiet
          assert.deepStrictEqual(methods(server), [initial, ...liveTurn])
          yield* server.send(cancelled("s"))
          yield* server.quiet
          yield* send(server, 2, id, "two")
          yield* server.quiet
          assert.deepStrictEqual(methods(server), [initial, ...liveTurn])
          assert.strictEqual(server.messages.filter((m) => m.id === "s").length, hold ? 0 : 1)
          yield* server.send(toolCall("t", "conversationStream", { conversation_id: id, hold }))
          yield* server.quiet
          assert.deepStrictEqual(initialStates(server), [[], [...quietTurn, ...quietTurn]])
        }),
      ),
  )

  it.effect(
    "a held stream gets its response when the conversation ends, after the last notification",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          const id = yield* created(server)
          yield* server.send(
            toolCall("s", "conversationStream", { conversation_id: id, hold: true }),
          )
          yield* server.quiet
          assert.deepStrictEqual(methods(server), [initial])
          yield* server.call(1, "conversationRemove", { conversation_id: id })
          yield* server.quiet
          assert.deepStrictEqual(valueOf(yield* server.response("s")), {})
          const said = server.messages.map(({ id: answered, method }) => method ?? answered)
          assert.isBelow(said.indexOf(disconnected), said.indexOf("s"))
        }),
      ),
  )

  it.effect("the client is notified of the end of the conversation with the reason", () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        yield* server.call("s", "conversationStream", { conversation_id: id })
        yield* server.call(1, "conversationRemove", { conversation_id: id })
        yield* server.quiet
        assert.deepStrictEqual(streamed(server).at(-1), {
          method: disconnected,
          params: {
            _meta: { conversationId: id, requestId: "s" },
            reason: "The conversation ended",
          },
        })
      }),
    ),
  )

  it.effect(
    "a second stream supersedes the first, which is notified, and no event is sent twice",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          const id = yield* created(server)
          yield* server.call("s", "conversationStream", { conversation_id: id })
          yield* server.quiet
          const answer = yield* server.call("t", "conversationStream", { conversation_id: id })
          yield* server.quiet
          assert.deepStrictEqual(
            server.messages
              .slice(server.messages.indexOf(answer) + 1)
              .map(({ method, params }) => [method, params?.["_meta"], params?.["reason"]]),
            [
              [disconnected, { conversationId: id, requestId: "s" }, "New stream() took over"],
              [initial, { conversationId: id, requestId: "t" }, undefined],
            ],
          )
          yield* send(server, 1, id, "one")
          yield* server.quiet
          assert.deepStrictEqual(methods(server).slice(3), liveTurn)
          // The first stream has ended, so cancelling it has no effect.
          yield* server.send(cancelled("s"))
          yield* send(server, 2, id, "two")
          yield* server.quiet
          assert.deepStrictEqual(methods(server).slice(3), [...liveTurn, ...liveTurn])
        }),
      ),
  )

  it.effect(
    "a stream of another connection supersedes it, and sends the events of the turn that the first one started",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          const other = yield* server.another
          const id = yield* created(server)
          yield* server.call("s", "conversationStream", { conversation_id: id })
          yield* other.call("s", "conversationStream", { conversation_id: id })
          yield* send(server, 1, id, "one")
          yield* server.quiet
          yield* other.quiet
          assert.deepStrictEqual(methods(server), [initial, disconnected])
          assert.deepStrictEqual(methods(other), [initial, ...liveTurn])
        }),
      ),
  )

  it.effect("L6 a client that does not read delays nothing, and gets a new initial state", () =>
    withCore(echo, () =>
      Effect.gen(function* () {
        const [client, serverSide] = yield* memoryPair(4)
        yield* Effect.forkChild(McpServer.serve(serverSide), { startImmediately: true })
        const manager = yield* ConversationManager
        const resolver = yield* SettingsResolver
        const settings = yield* Effect.orDie(resolver.resolve({}))
        const conversation = yield* Effect.orDie(manager.create(settings))
        const call = toolCall("s", "conversationStream", { conversation_id: conversation.id })
        yield* Effect.orDie(client.send([JSON.stringify(call)]))
        yield* settled
        for (let n = 0; n < 400; n++) {
          const items = [{ type: "text" as const, text: `n${n}` }]
          yield* Effect.orDie(conversation.submit({ type: "user_input", items }))
          while ((yield* Effect.orDie(conversation.state)).turn !== undefined) {
            yield* Effect.yieldNow
          }
        }
        const read: Array<WireMessage> = []
        for (let n = 0; n < 50; n++) {
          const frames = yield* Effect.timeoutOption(Effect.orDie(client.receive), 0)
          for (const frame of frames._tag === "Some" ? frames.value : []) {
            if (frame._tag === "Text") read.push(JSON.parse(frame.text) as WireMessage)
          }
          yield* settled
        }
        const states = initialStates({ messages: read })
        assert.deepStrictEqual(
          states.map((types) => types.filter((type) => type === "task_complete").length),
          [0, 400],
        )
        assert.isBelow(read.length, 40)
        assert.strictEqual(read.at(-1)?.method, initial)
      }),
    ),
  )

  it.effect(
    "a conversation of `codex` can be streamed, and one of these tools continued by `codex-reply`",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          const made = yield* server.call(1, "codex", { prompt: "one" })
          const ofCodex = String(callResult(made).structuredContent?.["threadId"])
          yield* server.call(2, "conversationStream", { conversation_id: ofCodex })
          yield* server.quiet
          assert.deepStrictEqual(initialStates(server), [quietTurn])
          const id = yield* created(server, 3)
          const reply = yield* server.call(4, "codex-reply", { threadId: id, prompt: "two" })
          assert.strictEqual(textOf(reply), "you said two")
        }),
      ),
  )
})
