/** Known issues of other MCP servers, part 2: cancellation, backpressure and the contents of results. */
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as McpServer from "../src/McpServer.ts"
import { initialize, oneCall, responses } from "./support/Asking.ts"
import { endless, pass } from "./support/Endless.ts"
import {
  cancelled,
  defaultReply,
  listed,
  toolCall,
  withCore,
  withServer,
} from "./support/Harness.ts"
import { callResult, event, eventsOf, textOf, threadOf, typesOf } from "./support/Wire.ts"

/** The output schema that `tools/list` shows, as a strict client uses it. */
const Shown = Schema.Struct({
  tools: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      outputSchema: Schema.Struct({
        properties: Schema.Record(Schema.String, Schema.Struct({ type: Schema.String })),
        required: Schema.Array(Schema.String),
      }),
    }),
  ),
})

const codexTools = (result: unknown) => {
  const { tools } = result as { readonly tools: ReadonlyArray<{ readonly name: string }> }
  return { tools: tools.filter(({ name }) => name.startsWith("codex")) }
}

describe("Known issues: stdio, continued", () => {
  it.effect(
    "L14 cancel ignored: model, tool and question stop, and no message of the call follows",
    () => {
      const running = endless()
      return withServer({ script: oneCall, tools: running.tools }, (server) =>
        Effect.gen(function* () {
          yield* server.send(toolCall(2, "codex", { prompt: "x" }))
          yield* server.quiet
          yield* server.send(cancelled(2))
          yield* server.quiet
          assert.deepStrictEqual(running.state, { running: 1, stopped: 1 })
          assert.strictEqual(typesOf(server.messages, 2).at(-1), "turn_aborted")
          const sent = server.messages.length
          yield* pass(server, 5000)
          assert.strictEqual(server.messages.length, sent)
          assert.deepStrictEqual(responses(server, 2), [])
        }),
      )
    },
  )

  it.effect(
    "L6 backpressure: 50,000 deltas for a client that stopped reading are coalesced, none is lost",
    () =>
      withCore([Script.reply(Script.manyDeltas("d", 50_000))], () =>
        Effect.gen(function* () {
          const [client, serverSide] = yield* memoryPair(4)
          yield* Effect.forkChild(McpServer.serve(serverSide), { startImmediately: true })
          yield* client.send([JSON.stringify(toolCall(1, "codex", { prompt: "x" }))])
          for (let i = 0; i < 20_000; i++) yield* Effect.yieldNow
          let whole = ""
          let frames = 0
          while (true) {
            const messages = (yield* client.receive).flatMap((frame) =>
              frame._tag === "Text" ? [JSON.parse(frame.text) as Record<string, unknown>] : [],
            )
            frames += messages.length
            for (const message of messages) {
              if (message["method"] === undefined) {
                assert.strictEqual(textOf(message), whole)
                assert.strictEqual(whole.length, 50_000)
                assert.isBelow(frames, 1000)
                return
              }
              const { msg } = event(message)
              if (msg.type === "agent_message_delta") whole += String(msg["delta"])
            }
          }
        }),
      ),
  )

  it.effect(
    "memory growth: the state of connections is released with them, their conversations remain",
    () =>
      withServer({ script: () => defaultReply }, (server) =>
        Effect.gen(function* () {
          for (let i = 0; i < 50; i++) {
            const one = yield* server.another
            yield* one.call(1, "codex", { prompt: "x" })
            yield* one.connection.close
            yield* one.quiet
            assert.isDefined(one.server.pollUnsafe())
          }
          const conversations = yield* listed(server.manager)
          assert.strictEqual(conversations.length, 50)
          for (const threadId of conversations.slice(0, 3)) {
            const reply = yield* server.call(`to ${threadId}`, "codex-reply", {
              threadId,
              prompt: "y",
            })
            assert.isUndefined(callResult(reply).isError)
          }
        }),
      ),
  )

  it.effect.each(["1999-01-01", "2099-12-31", "", "latest"])(
    "version strictness: the response to %j offers another version, and is never an error",
    (protocolVersion) =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          const { params } = initialize({
            sampling: {},
            unheard: { of: [1] },
            roots: { listChanged: 7 },
          })
          const { result } = yield* server.ask(1, "initialize", {
            ...params,
            protocolVersion,
            clientInfo: { ...params.clientInfo, icons: [], websiteUrl: "x" },
          })
          assert.strictEqual(result?.["protocolVersion"], "2025-11-25")
        }),
      ),
  )

  it.effect("structuredContent matches the output schema, in errors too", () =>
    withServer({ script: [defaultReply, Script.status(500)] }, (server) =>
      Effect.gen(function* () {
        const { result } = yield* server.ask(1, "tools/list")
        const { tools } = yield* Schema.decodeUnknownEffect(Shown)(codexTools(result))
        assert.deepStrictEqual(
          tools.map(({ name }) => name),
          ["codex", "codex-reply"],
        )
        const good = yield* server.call(2, "codex", { prompt: "x" })
        const bad = yield* server.call(3, "codex-reply", { threadId: threadOf(good), prompt: "y" })
        assert.isTrue(callResult(bad).isError)
        for (const answer of [good, bad]) {
          const content = callResult(answer).structuredContent ?? {}
          for (const { outputSchema } of tools) {
            for (const member of outputSchema.required) {
              assert.strictEqual(typeof content[member], outputSchema.properties[member]?.type)
            }
          }
        }
        // A result that belongs to no conversation has none: strict clients read it only without `isError`.
        const wrong = callResult(yield* server.call(4, "codex", {}))
        assert.isTrue(wrong.isError)
        assert.isUndefined(wrong.structuredContent)
      }),
    ),
  )

  it.effect(
    "the conversation's id is in the first event, in the result, and in a failed result",
    () =>
      withServer({ script: [Script.status(500)] }, (server) =>
        Effect.gen(function* () {
          const failed = yield* server.call(1, "codex", { prompt: "x" })
          const thread = threadOf(failed)
          const [first] = eventsOf(server.messages, 1)
          assert.deepStrictEqual(
            [
              first?.msg.type,
              first?.msg["session_id"],
              first?.msg["thread_id"],
              first?._meta?.["threadId"],
            ],
            ["session_configured", thread, thread, thread],
          )
          assert.strictEqual(callResult(failed).structuredContent?.["conversationId"], thread)
        }),
      ),
  )

  it.effect("initialize is answered before slow work, while a first turn waits for its model", () =>
    withServer({ script: [Script.silence] }, (server) =>
      Effect.gen(function* () {
        yield* server.send(toolCall(1, "codex", { prompt: "x" }), initialize({}))
        yield* server.quiet
        assert.strictEqual(responses(server, "i").length, 1)
        assert.deepStrictEqual(responses(server, 1), [])
      }),
    ),
  )
})
