import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Harness, toolCall, withServer } from "../../support/Harness.ts"
import { saying } from "../../support/Stateless.ts"
import { callResult, contentOf, textOf, threadOf } from "../../support/Wire.ts"

const echo: Script.ProviderScript = ({ lastUserText }) =>
  Script.reply(Script.deltas("you said ", lastUserText))

const missing =
  "Failed to parse configuration for Codex tool: missing field `threadId` (expected a string; `conversationId` and `sessionId` are accepted too)"
const noneHere = `${missing}: no conversation was started or continued on this connection`

let lastId = 100

/** The conversation and the answer of a call that must succeed. */
const succeeds = Effect.fnUntraced(function* (server: Harness, name: string, args: object) {
  const answer = yield* server.call(++lastId, name, args)
  assert.isUndefined(callResult(answer).isError, textOf(answer))
  return { id: threadOf(answer), text: textOf(answer) }
})

/** The conversation that a reply without an id continues. */
const continued = (server: Harness, more: object = {}) =>
  Effect.map(succeeds(server, "codex-reply", { prompt: "next", ...more }), ({ id, text }) => {
    assert.strictEqual(text, "you said next")
    return id
  })

const valueOf = (server: Harness, name: string, args: object) =>
  Effect.map(
    server.call(++lastId, name, args),
    ({ result }) => result?.["structuredContent"] as Readonly<Record<string, string>>,
  )

describe("codex-reply without an id", () => {
  it.effect("continues the conversation that the connection started or continued last", () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const first = yield* succeeds(server, "codex", { prompt: "a" })
        assert.strictEqual(yield* continued(server), first.id)
        const second = yield* succeeds(server, "codex", { prompt: "b" })
        assert.strictEqual(yield* continued(server), second.id)
        yield* succeeds(server, "codex-reply", { prompt: "c", threadId: first.id })
        assert.strictEqual(yield* continued(server), first.id)
        assert.strictEqual(
          yield* continued(server, { threadId: null, conversationId: null, sessionId: null }),
          first.id,
        )
      }),
    ),
  )

  it.effect("continues conversations of the conversation tools, too", () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const { conversation_id: made = "" } = yield* valueOf(server, "conversationCreate", {})
        assert.strictEqual(yield* continued(server), made)
        const other = yield* succeeds(server, "codex", { prompt: "a" })
        const content = [{ type: "text", text: "hi" }]
        yield* valueOf(server, "conversationSendMessage", { conversation_id: made, content })
        assert.strictEqual(yield* continued(server), made)
        const forked = yield* valueOf(server, "conversationFork", { conversation_id: other.id })
        assert.strictEqual(yield* continued(server), forked["conversation_id"])
      }),
    ),
  )

  it.effect(
    "L13 is refused on a connection without a conversation, even if other connections have one",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          yield* succeeds(server, "codex", { prompt: "a" })
          const another = yield* server.another
          const refused = yield* another.call(1, "codex-reply", { prompt: "x" })
          assert.isTrue(callResult(refused).isError)
          assert.deepStrictEqual(refused.result?.["content"], [{ type: "text", text: noneHere }])
          // Reading a conversation does not make it the latest one.
          yield* another.call(2, "conversationsList", {})
          assert.strictEqual(
            textOf(yield* another.call(3, "codex-reply", { prompt: "x" })),
            noneHere,
          )
        }),
      ),
  )

  it.effect("L13 is refused in a stateless request, and sets no conversation for others", () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const call = (id: number, name: string, args: object) =>
          server.ask(id, "tools/call", saying({ name, arguments: args }))
        yield* call(1, "codex", { prompt: "a" })
        const refused = yield* call(2, "codex-reply", { prompt: "x" })
        assert.strictEqual(
          textOf(refused),
          `${missing}: in this revision of the protocol each request has to name its conversation`,
        )
        assert.strictEqual(textOf(yield* server.call(3, "codex-reply", { prompt: "x" })), noneHere)
      }),
    ),
  )

  it.effect("L14 joins a running turn, and a refused message changes nothing", () =>
    withServer({ script: [Script.silence, Script.silence] }, (server) =>
      Effect.gen(function* () {
        yield* server.send(toolCall(1, "codex", { prompt: "a" }))
        yield* server.quiet
        const rejected = yield* server.call(2, "codex-reply", {
          prompt: "b",
          "while-running": "reject",
        })
        assert.isTrue(callResult(rejected).isError)
        const id = threadOf(rejected)
        assert.deepStrictEqual(rejected.result?.["content"], contentOf(id, textOf(rejected)))
        yield* server.send(
          toolCall(3, "codex-reply", { prompt: "c", "while-running": "interrupt" }),
        )
        yield* server.quiet
        const stopped = yield* server.response(1)
        assert.strictEqual(threadOf(stopped), id)
        assert.deepStrictEqual(stopped.result?.["content"], contentOf(id, "Turn interrupted"))
      }),
    ),
  )
})

describe("the id of the conversation as text", () => {
  it.effect("is left out by `structured`, and the answer is the only text", () =>
    withServer({ script: echo, threadId: "structured" }, (server) =>
      Effect.gen(function* () {
        const answer = yield* server.call(1, "codex", { prompt: "a" })
        assert.deepStrictEqual(answer.result, {
          content: [{ type: "text", text: "you said a" }],
          structuredContent: {
            threadId: threadOf(answer),
            conversationId: threadOf(answer),
            content: "you said a",
          },
        })
      }),
    ),
  )

  it.effect("does not exist for an unknown conversation", () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const threadId = "01a1fa29-0000-7000-8000-000000000000"
        const answer = yield* server.call(1, "codex-reply", { prompt: "x", threadId })
        assert.deepStrictEqual(answer.result?.["content"], [
          { type: "text", text: `Session not found for thread_id: ${threadId}` },
        ])
      }),
    ),
  )
})
