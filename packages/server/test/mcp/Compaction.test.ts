/** A history that becomes too long: the requests to the provider, and the messages to the client. */
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defaultReply, withServer } from "../support/Harness.ts"
import { eventsOf, textOf } from "../support/Wire.ts"

const Body = Schema.Struct({
  instructions: Schema.String,
  input: Schema.Array(Schema.Unknown),
  tools: Schema.Array(Schema.Unknown),
})
const bodyOf = Schema.decodeUnknownSync(Body)

const tools = ToolRuntime.simple({
  specs: () => [
    { type: "function", name: "look", description: "", parameters: { type: "object" } },
  ],
  run: () => Effect.succeed("seen"),
})

const looks = (total: number) =>
  Script.replyWithUsage({ ...Script.defaultUsage, total }, Script.toolCall("look", {}, "call-1"))

const tooLong = Script.status(400, {
  body: JSON.stringify({
    error: { message: "This model's maximum context length is 9 tokens.", code: null },
  }),
})

const said = (text: string) => ({
  type: "message",
  role: "user",
  content: [{ type: "input_text", text }],
})

describe("Compaction", () => {
  it.effect("at the configured limit uses the client's prompt, and notifies the call", () =>
    withServer(
      {
        tools,
        script: [looks(500), Script.reply(Script.text("gist")), Script.reply(Script.text("done"))],
      },
      (server) =>
        Effect.gen(function* () {
          const result = yield* server.call(2, "codex", {
            prompt: "x",
            "compact-prompt": "Be brief.",
            config: { model_auto_compact_token_limit: 500, model_context_window: 1_000 },
          })
          assert.strictEqual(textOf(result), "done")
          const bodies = (yield* server.provider.requests).map(({ body }) => bodyOf(body))
          assert.deepStrictEqual(
            bodies.map((body) => body.tools.length),
            [1, 0, 1],
          )
          assert.strictEqual(bodies[1]?.instructions, "Be brief.")
          assert.deepStrictEqual(bodies[1]?.input.at(-1), said("Start Summarization"))
          assert.strictEqual(bodies[2]?.input.length, 2)
          const events = eventsOf(server.messages, 2)
          assert.deepStrictEqual(
            events.flatMap(({ id, msg }) => (id.startsWith("auto") ? [[id, msg.type]] : [])),
            [
              ["auto-compact-0", "token_count"],
              ["auto-compact-0", "agent_message"],
            ],
          )
          assert.deepStrictEqual(
            events.filter(({ msg }) => msg.type === "token_count").map(({ msg }) => msg["info"]),
            [500, 518, 536].map((total, n) => ({
              total_token_usage: usage(n + 1, total),
              last_token_usage: usage(1, n === 0 ? 500 : 18),
              model_context_window: 1_000,
            })),
          )
        }),
    ),
  )

  it.effect("when the provider rejects the request as too long, the turn continues after it", () =>
    withServer(
      {
        tools,
        script: [
          looks(18),
          tooLong,
          Script.reply(Script.text("gist")),
          Script.reply(Script.text("done")),
        ],
      },
      (server) =>
        Effect.gen(function* () {
          const result = yield* server.call(2, "codex", { prompt: "x" })
          assert.strictEqual(textOf(result), "done")
        }),
    ),
  )

  it.effect("that does not suffice is an error of the call", () =>
    withServer(
      {
        tools,
        script: [looks(18), tooLong, Script.reply(Script.text("gist")), tooLong, defaultReply],
      },
      (server) =>
        Effect.gen(function* () {
          const result = yield* server.call(2, "codex", {
            prompt: "x",
            config: { model_context_window: 1_000_000 },
          })
          assert.match(
            textOf(result),
            /Conversation is still above the token limit after automatic summarization \(limit 800000, current \d+\)\. Please start a new session or trim your input\./,
          )
          const again = yield* server.call(3, "codex-reply", {
            conversationId: String(eventsOf(server.messages, 2)[0]?._meta?.["threadId"]),
            prompt: "y",
          })
          assert.strictEqual(textOf(again), "mock default answer")
        }),
    ),
  )
})

const usage = (requests: number, total: number) => ({
  input_tokens: 11 * requests,
  cached_input_tokens: 3 * requests,
  output_tokens: 7 * requests,
  reasoning_output_tokens: 2 * requests,
  total_tokens: total,
})
