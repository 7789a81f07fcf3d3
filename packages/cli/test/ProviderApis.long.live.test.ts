import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { provided } from "./support/Home.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

interface Retries {
  readonly request?: number
  readonly stream?: number
}

/** A server that uses a mock provider with this script. */
const serve = (
  wire: "responses" | "chat",
  script: Script.ProviderScript,
  retries: Retries = {},
): Effect.Effect<
  { readonly provider: MockProvider.MockProvider; readonly server: Server.Server },
  never,
  Scope.Scope
> =>
  Effect.gen(function* () {
    const provider = yield* MockProvider.make(script)
    const server = yield* Server.ready({ home: yield* provided(provider.baseUrl, wire, retries) })
    return { provider, server }
  })

/** The values of one member in all events of this type, in order. */
const members = (server: Server.Server, type: string, member: string) =>
  server.frames.flatMap(({ params }) =>
    params?.msg?.type === type ? [params.msg[member] as string] : [],
  )

for (const wire of ["responses", "chat"] as const) {
  describe(`colloquy mcp on the ${wire} wire`, () => {
    it.live("delivers each of 5,000 deltas that the provider writes at once", () =>
      Effect.gen(function* () {
        const written = Array.from({ length: 5000 }, (_, n) => `${n} `)
        const { server } = yield* serve(wire, [Script.reply(Script.deltas(...written))])
        server.call(1, "codex", { prompt: "question" })
        assert.strictEqual(Server.textOf(yield* server.answer(1)), written.join(""))
        assert.deepStrictEqual(members(server, "agent_message_delta", "delta"), written)
      }),
    )

    it.live("streams the deltas of an answer and returns the whole answer at the end", () =>
      Effect.gen(function* () {
        const { server } = yield* serve(wire, [
          Script.reply(Script.deltas("The ", "answer ", "is 42.")),
        ])
        server.call(1, "codex", { prompt: "question" })
        const answer = yield* server.answer(1)
        assert.strictEqual(Server.textOf(answer), "The answer is 42.")
        assert.strictEqual(
          members(server, "agent_message_delta", "delta").join(""),
          "The answer is 42.",
        )
        assert.deepStrictEqual(members(server, "agent_message", "message"), ["The answer is 42."])
        const types = server.eventTypes(1)
        assert.strictEqual(types[0], "session_configured")
        assert.strictEqual(types[1], "task_started")
        assert.strictEqual(types.at(-1), "task_complete")
        assert.strictEqual(server.frames.at(-1), answer, "the result follows every event")
      }),
    )

    it.live("shows reasoning before the answer, and leaves it out of the answer", () =>
      Effect.gen(function* () {
        const { server } = yield* serve(wire, [
          Script.reply(Script.reasoning(["think", "ing"]), Script.text("done")),
        ])
        // Reasoning in the Chat Completions API is raw reasoning, which clients receive only on request.
        server.call(1, "codex", { prompt: "question", config: { show_raw_agent_reasoning: true } })
        assert.strictEqual(Server.textOf(yield* server.answer(1)), "done")
        const type = wire === "responses" ? "agent_reasoning" : "agent_reasoning_raw_content"
        assert.strictEqual(members(server, `${type}_delta`, "delta").join(""), "thinking")
        assert.deepStrictEqual(members(server, type, "text"), ["thinking"])
        const types = server.eventTypes(1)
        assert.isBelow(types.indexOf(type), types.indexOf("agent_message"))
      }),
    )

    it.live(
      "answers each of several tool calls of one response and continues to the final answer",
      () =>
        Effect.gen(function* () {
          const { provider, server } = yield* serve(wire, [
            Script.reply(
              Script.toolCall("first_tool", { a: 1 }, "call_a"),
              Script.toolCall("second_tool", "{not json", "call_b"),
              Script.toolCall("first_tool", { a: 2 }, "call_c"),
            ),
            Script.reply(Script.text("without tools, then")),
          ])
          server.call(1, "codex", { prompt: "question" })
          assert.strictEqual(Server.textOf(yield* server.answer(1)), "without tools, then")
          const requests = yield* provider.requests
          assert.strictEqual(requests.length, 2)
          const sent = JSON.stringify(requests[1]?.body)
          assert.strictEqual(sent.match(/unsupported call: first_tool/g)?.length, 2)
          assert.strictEqual(sent.match(/unsupported call: second_tool/g)?.length, 1)
          for (const callId of ["call_a", "call_b", "call_c"]) {
            assert.strictEqual(
              sent.match(new RegExp(callId, "g"))?.length,
              2,
              "a call and its output",
            )
          }
        }),
    )

    it.live("carries the history into the next turn", () =>
      Effect.gen(function* () {
        const { provider, server } = yield* serve(wire, [
          Script.reply(Script.text("first answer")),
          Script.reply(Script.text("second answer")),
        ])
        server.call(1, "codex", { prompt: "first prompt" })
        const threadId = (yield* server.answer(1)).result?.structuredContent?.threadId
        server.call(2, "codex-reply", { threadId, prompt: "second prompt" })
        assert.strictEqual(Server.textOf(yield* server.answer(2)), "second answer")
        const [, second] = yield* provider.requests
        const sent = JSON.stringify(second?.body)
        const order = ["first prompt", "first answer", "second prompt"].map((text) =>
          sent.indexOf(text),
        )
        assert.deepStrictEqual(
          order,
          order.toSorted((a, b) => a - b),
        )
        assert.notInclude(order, -1)
        assert.strictEqual(second?.lastUserText, "second prompt")
      }),
    )

    it.live("repeats a request after a 500 without an event", () =>
      Effect.gen(function* () {
        const { provider, server } = yield* serve(
          wire,
          [Script.status(500), Script.reply(Script.text("recovered"))],
          { request: 1 },
        )
        server.call(1, "codex", { prompt: "question" })
        assert.strictEqual(Server.textOf(yield* server.answer(1)), "recovered")
        assert.strictEqual((yield* provider.requests).length, 2)
        assert.notInclude(server.eventTypes(1), "stream_error")
      }),
    )

    it.live("fails after the configured number of retries with the reason", () =>
      Effect.gen(function* () {
        const { provider, server } = yield* serve(wire, () => Script.status(503), { request: 1 })
        server.call(1, "codex", { prompt: "question" })
        const answer = yield* server.answer(1)
        assert.isTrue(answer.result?.isError)
        assert.strictEqual(
          Server.textOf(answer),
          "exceeded retry limit, last status: 503 Service Unavailable",
        )
        assert.strictEqual((yield* provider.requests).length, 2)
        assert.deepStrictEqual(server.eventTypes(1).slice(-2), ["error", "task_complete"])
      }),
    )

    for (const seconds of [0, 1]) {
      it.live(`waits the ${seconds} s that a 429 names and sends the request again`, () =>
        Effect.gen(function* () {
          const { server } = yield* serve(
            wire,
            [Script.tooManyRequests(seconds), Script.reply(Script.text("patient"))],
            { request: 1 },
          )
          const began = performance.now()
          server.call(1, "codex", { prompt: "question" })
          assert.strictEqual(Server.textOf(yield* server.answer(1)), "patient")
          assert.isAtLeast(performance.now() - began, seconds * 1000)
        }),
      )
    }

    it.live(
      "sends the request again after a stream that broke off, and notifies of it between",
      () =>
        Effect.gen(function* () {
          const { server } = yield* serve(
            wire,
            [
              Script.reply(Script.bareDeltas("half an "), Script.delay("10 millis"), Script.drop),
              Script.reply(Script.text("a whole answer")),
            ],
            { stream: 1 },
          )
          server.call(1, "codex", { prompt: "question" })
          const answer = yield* server.answer(1)
          assert.strictEqual(Server.textOf(answer), "a whole answer")
          const [message] = members(server, "stream_error", "message")
          assert.match(
            message ?? "",
            /^stream error: stream disconnected before completion: .*; retrying 1\/1 in \d+ms…$/,
          )
          const types = server.eventTypes(1)
          assert.isBelow(types.indexOf("stream_error"), types.indexOf("agent_message"))
          assert.isAbove(types.indexOf("stream_error"), types.indexOf("task_started"))
        }),
    )

    it.live(
      "a rejected key is an error that names the status, and the conversation continues",
      () =>
        Effect.gen(function* () {
          let keyIsGood = false
          const { server } = yield* serve(wire, () =>
            keyIsGood
              ? Script.reply(Script.text("welcome"))
              : Script.status(401, { body: "no such key" }),
          )
          server.call(1, "codex", { prompt: "question" })
          const answer = yield* server.answer(1)
          assert.isTrue(answer.result?.isError)
          assert.strictEqual(
            Server.textOf(answer),
            "unexpected status 401 Unauthorized: no such key",
          )
          keyIsGood = true
          const threadId = answer.result?.structuredContent?.threadId
          server.call(2, "codex-reply", { threadId, prompt: "again" })
          assert.strictEqual(Server.textOf(yield* server.answer(2)), "welcome")
        }),
    )

    it.live("L14 a cancelled call closes the connection to a provider that never ends", () =>
      Effect.gen(function* () {
        const { provider, server } = yield* serve(wire, [
          Script.reply(Script.bareDeltas("on and "), Script.hang),
        ])
        server.call(1, "codex", { prompt: "question" })
        yield* server.event("agent_message_delta", 1)
        server.send({ method: "notifications/cancelled", params: { requestId: 1 } })
        yield* provider.awaitClosed(0)
        yield* server.event("turn_aborted", 1)
        server.send({ id: 2, method: "ping" })
        yield* server.answer(2)
        assert.isUndefined(
          server.frames.find(({ id }) => id === 1),
          "no answer after a cancel",
        )
      }),
    )

    it.live("L14 a call is cancelled while its provider has not responded at all", () =>
      Effect.gen(function* () {
        const { provider, server } = yield* serve(wire, [Script.silence])
        server.call(1, "codex", { prompt: "question" })
        yield* server.event("task_started", 1)
        while ((yield* provider.requests).length === 0) yield* Effect.sleep("5 millis")
        server.send({ method: "notifications/cancelled", params: { requestId: 1 } })
        yield* provider.awaitClosed(0)
        yield* server.event("turn_aborted", 1)
      }),
    )

    it.live("a provider that is down is an error that names its address and the reason", () =>
      Effect.gen(function* () {
        // The address of a mock provider that has already closed, so that its port refuses connections.
        const { baseUrl } = yield* Effect.scoped(MockProvider.make([]))
        const server = yield* Server.ready({ home: yield* provided(baseUrl, wire) })
        server.call(1, "codex", { prompt: "question" })
        const answer = yield* server.answer(1)
        assert.isTrue(answer.result?.isError)
        assert.include(Server.textOf(answer), baseUrl)
        assert.include(Server.textOf(answer), "ECONNREFUSED")
        server.send({ id: 2, method: "ping" })
        assert.isUndefined((yield* server.answer(2)).error)
      }),
    )
  })
}
