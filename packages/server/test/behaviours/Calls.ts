/** Tools: lists and calls, valid and invalid ones, with progress, cancelled and concurrent. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  behaviour,
  callOf,
  codes,
  handshake,
  listIn,
  membersIn,
  sleeping,
  stateless,
  textOf,
  threadOf,
} from "./Behaviour.ts"

interface Tool {
  readonly name: string
  readonly description?: string
  readonly inputSchema: { readonly type: string }
}

/** The members that every request of the newest revision must have. */
const newest = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
}

const say = (words: string) => callOf("codex", { prompt: `say ${words}` })

export const calls = [
  behaviour("lists its tools, each with a schema of an object, in the same order", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const first = yield* client.ask("tools/list")
      const second = yield* client.ask("tools/list")
      const tools = first.result?.["tools"] as ReadonlyArray<Tool>
      assert.includeMembers(
        tools.map(({ name }) => name),
        ["codex", "codex-reply"],
      )
      assert.isTrue(
        tools.every(
          ({ description, inputSchema }) =>
            inputSchema.type === "object" && description !== undefined,
        ),
      )
      assert.deepStrictEqual(first.result, second.result)
    }),
  ),

  behaviour("lists its tools in at most 5,000 bytes, the whole response counted", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const response = yield* client.ask("tools/list")
      const bytes = new TextEncoder().encode(JSON.stringify(response)).length
      assert.isAtMost(bytes, 5000)
      assert.isAbove(bytes, 1000)
    }),
  ),

  behaviour("names the conversation in a second text, after the answer or the error", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const good = yield* client.ask("tools/call", say("hello"))
      const named = { threadId: threadOf(good), prompt: "say it", "while-running": "steer" }
      const bad = yield* client.ask("tools/call", callOf("codex-reply", named))
      assert.isTrue(bad.result?.["isError"])
      for (const { result } of [good, bad]) {
        const [first, second, ...more] = listIn(result, "content")
        assert.strictEqual(first?.["text"], membersIn(result, "structuredContent")["content"])
        assert.deepStrictEqual(second, {
          type: "text",
          text: `threadId: ${threadOf(good)} (pass it to codex-reply to continue this conversation)`,
          annotations: { audience: ["assistant"] },
        })
        assert.isEmpty(more)
      }
    }),
  ),

  behaviour(
    "continues the last conversation of the connection when a reply names none",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const made = yield* client.ask("tools/call", say("one"))
        const next = yield* client.ask("tools/call", callOf("codex-reply", { prompt: "say two" }))
        assert.deepStrictEqual([textOf(next), threadOf(next)], ["two", threadOf(made)])
      }),
    handshake,
  ),

  behaviour(
    "refuses a reply that names no conversation, where no request belongs to a connection",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        yield* client.ask("tools/call", say("one"))
        const next = yield* client.ask("tools/call", callOf("codex-reply", { prompt: "say two" }))
        assert.isTrue(next.result?.["isError"])
        assert.strictEqual(
          textOf(next),
          "Failed to parse configuration for Codex tool: missing field `threadId` (expected a string; `conversationId` and `sessionId` are accepted too): in this revision of the protocol each request has to name its conversation",
        )
      }),
    stateless,
  ),

  behaviour("answers a call with a turn's result", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      assert.strictEqual(textOf(yield* client.ask("tools/call", say("hello"))), "hello")
    }),
  ),

  behaviour("reports bad arguments in the result, where a model sees it", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const reply = yield* client.ask("tools/call", callOf("codex", { promt: "hi" }))
      assert.isTrue(reply.result?.["isError"])
      assert.include(textOf(reply), "prompt")
    }),
  ),

  behaviour("refuses a tool that it does not have", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const { error } = yield* client.ask("tools/call", callOf("codx", { prompt: "hi" }))
      assert.strictEqual(error?.code, codes.invalidParams)
      assert.include(error?.message, "codex")
    }),
  ),

  behaviour("refuses a method that it does not have, and keeps serving", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const { error } = yield* client.ask("tools/lst")
      assert.strictEqual(error?.code, codes.methodNotFound)
      assert.strictEqual(textOf(yield* client.ask("tools/call", say("still here"))), "still here")
    }),
  ),

  behaviour(
    "reports the progress of a call with rising numbers, and nothing after the response",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const params = { ...say("hello"), _meta: { progressToken: "steps" } }
        const { id, reply } = yield* client.begin("tools/call", params)
        yield* reply
        yield* client.ask("tools/call", say("and on"))
        const answeredAt = client.messages.findIndex((m) => m.method === undefined && m.id === id)
        const steps = client.messages.flatMap(({ method, params: step }, at) =>
          method === "notifications/progress" ? [{ at, step }] : [],
        )
        assert.isNotEmpty(steps)
        assert.isTrue(steps.every(({ at }) => at < answeredAt))
        assert.isTrue(steps.every(({ step }) => step?.["progressToken"] === "steps"))
        const values = steps.map(({ step }) => Number(step?.["progress"]))
        assert.deepStrictEqual(
          values,
          [...new Set(values)].toSorted((a, b) => a - b),
        )
      }),
  ),

  behaviour("sends no response to a cancelled call, and the next one its own", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const params = { ...callOf("codex", sleeping(world)), _meta: { progressToken: 1 } }
      const { id } = yield* client.begin("tools/call", params)
      yield* client.until(
        ({ method, params: step }) =>
          method === "notifications/progress" && String(step?.["message"]).startsWith("running"),
      )
      yield* client.cancel(id)
      const next = yield* client.ask("tools/call", say("and on"))
      assert.strictEqual(textOf(next), "and on")
      assert.isFalse(client.messages.some((m) => m.method === undefined && m.id === id))
    }),
  ),

  behaviour(
    "responds to a call whose arguments are a thousand levels deep, and keeps serving",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        let deep: unknown = "hi"
        for (let level = 0; level < 1000; level++) deep = { deeper: deep }
        const reply = yield* client.ask("tools/call", callOf("codex", { prompt: deep }))
        assert.isTrue(reply.result?.["isError"] === true || reply.error !== undefined)
        assert.strictEqual(textOf(yield* client.ask("tools/call", say("and on"))), "and on")
      }),
  ),

  behaviour("answers two calls at once, each its own", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const both = yield* Effect.forEach(
        ["left", "right"],
        (words) => client.ask("tools/call", say(words)),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(both.map(textOf), ["left", "right"])
    }),
  ),

  behaviour(
    "serves a request that names a newer revision itself, and the next one as was negotiated",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const other = yield* client.ask("tools/list", { _meta: newest })
        const agreed = yield* client.ask("tools/list")
        assert.strictEqual(other.result?.["resultType"], "complete")
        assert.notProperty(agreed.result, "resultType")
      }),
    handshake,
  ),

  behaviour(
    "refuses to be initialized again",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const { error } = yield* client.ask("initialize", {
          protocolVersion: "2025-06-18",
          capabilities: {},
          clientInfo: { name: "another", version: "1" },
        })
        assert.strictEqual(error?.code, codes.invalidRequest)
        assert.strictEqual(textOf(yield* client.ask("tools/call", say("and on"))), "and on")
      }),
    handshake,
  ),

  behaviour(
    "refuses a request that does not say everything, and keeps nothing of those before",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const halves = Object.keys(newest).map((name) => ({ [name]: undefined }))
        const replies = yield* Effect.forEach(halves, (_meta) =>
          client.ask("server/discover", { _meta }),
        )
        assert.deepStrictEqual(
          replies.map(({ error }) => error?.code),
          halves.map(() => codes.invalidParams),
        )
      }),
    stateless,
  ),

  behaviour(
    "answers a ping",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        assert.deepStrictEqual((yield* client.ask("ping")).result, {})
      }),
    handshake,
  ),

  behaviour(
    "says of each result that it is complete, and how long a list may be kept",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const list = (yield* client.ask("tools/list")).result
        const called = (yield* client.ask("tools/call", say("hello"))).result
        assert.deepStrictEqual(
          [list?.["resultType"], called?.["resultType"]],
          ["complete", "complete"],
        )
        assert.isTrue(Number.isInteger(list?.["ttlMs"]) && Number(list?.["ttlMs"]) >= 0)
        assert.include(["public", "private"], list?.["cacheScope"])
      }),
    stateless,
  ),

  behaviour(
    "has none of the methods that went with the handshake",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const gone = [
          "initialize",
          "ping",
          "logging/setLevel",
          "resources/subscribe",
          "resources/unsubscribe",
        ]
        const replies = yield* Effect.forEach(gone, (method) => client.ask(method))
        assert.deepStrictEqual(
          replies.map(({ error }) => error?.code),
          gone.map(() => codes.methodNotFound),
        )
      }),
    stateless,
  ),

  behaviour(
    "describes itself to any client, and names its revisions to a client that requests another",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const { result } = yield* client.ask("server/discover")
        const supported = result?.["supportedVersions"] as ReadonlyArray<string>
        assert.include(supported, world.revision)
        assert.property(result?.["capabilities"], "tools")
        const refused = yield* client.ask("server/discover", {
          _meta: { "io.modelcontextprotocol/protocolVersion": "2099-01-01" },
        })
        assert.strictEqual(refused.error?.code, codes.unsupportedVersion)
        assert.deepStrictEqual(refused.error?.data, { supported, requested: "2099-01-01" })
      }),
    stateless,
  ),
]
