/**
 * Issues that users of other MCP servers report, as far as they concern stdio: one test for each. More are in
 * `KnownIssues.flow.test.ts` and, about questions, in `KnownIssues.questions.test.ts`; request ids are tested in
 * `mcp/BadInput.test.ts`. Issues that need a process are also tested with the built server in `packages/cli`.
 */
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { asking, exec, initialize, oneCall, responses } from "./support/Asking.ts"
import { defaultReply, type HarnessOptions, toolCall, withServer } from "./support/Harness.ts"
import { endless, pass } from "./support/Endless.ts"
import { eventsOf, textOf, threadOf } from "./support/Wire.ts"

const streaming = [Script.reply(Script.bareDeltas("a"), Script.hang)]

describe("Known issues: stdio", () => {
  const tool = endless()
  const states: Readonly<Record<string, HarnessOptions>> = {
    "nothing running": { script: [defaultReply] },
    "a turn streaming": { script: streaming },
    "a provider that does not answer": { script: [Script.silence] },
    "a question open": { script: oneCall, tools: asking([exec]).tools },
    "a tool running": { script: oneCall, tools: tool.tools },
  }
  it.effect.each(Object.entries(states))(
    "L9 orphan processes: with %s the end of stdin ends all within 3 s",
    ([, options]) =>
      withServer(options, (server) =>
        Effect.gen(function* () {
          yield* server.send(initialize({ elicitation: {} }), toolCall(2, "codex", { prompt: "x" }))
          yield* server.quiet
          yield* server.connection.close
          yield* server.quiet
          yield* pass(server, 3000)
          assert.isDefined(server.server.pollUnsafe())
          assert.strictEqual(responses(server, 2).length, 1)
          assert.strictEqual(tool.state.stopped, tool.state.running)
        }),
      ),
  )

  it.effect("L9 stdout pollution: every line is one JSON-RPC message", () =>
    withServer(
      {
        script: [Script.reply(Script.text("line one\nline two\r\n\u2028end")), Script.status(500)],
      },
      (server) =>
        Effect.gen(function* () {
          yield* server.sendTexts(
            "console.log",
            "{}",
            '{"jsonrpc":"2.0","method":"notifications/nothing"}',
          )
          yield* server.call(1, "codex", { prompt: "x" })
          yield* server.call(2, "codex", { prompt: "x" })
          for (const text of server.texts) {
            assert.notMatch(text, /[\n\r]/)
            const { jsonrpc, method, id } = JSON.parse(text) as Record<string, unknown>
            assert.isTrue(jsonrpc === "2.0" && (method !== undefined || id !== undefined))
          }
        }),
    ),
  )

  it.effect("long calls time out: progress rises at least every 10 s for 3 minutes", () =>
    withServer(
      {
        script: [
          Script.reply(Script.bareDeltas("a"), Script.delay("3 minutes"), Script.text("late")),
        ],
      },
      (server) =>
        Effect.gen(function* () {
          const { params, ...call } = toolCall(1, "codex", { prompt: "x" })
          yield* server.send({ ...call, params: { ...params, _meta: { progressToken: "t" } } })
          yield* server.quiet
          let before = -1
          for (let i = 0; i < 17; i++) {
            yield* TestClock.adjust("10 seconds")
            yield* server.quiet
            const progress = server.messages
              .filter(({ method }) => method === "notifications/progress")
              .map(({ params: progress }) => Number(progress?.["progress"]))
            const last = progress.at(-1) ?? -1
            assert.isAbove(last, before)
            assert.deepStrictEqual(
              progress,
              [...new Set(progress)].toSorted((a, b) => a - b),
            )
            before = last
          }
          yield* pass(server, 20_000)
          assert.strictEqual(textOf(responses(server, 1)[0] ?? {}), "late")
        }),
    ),
  )

  it.effect("L1 a request is never answered: whatever its members are, it is answered once", () =>
    withServer({ script: () => defaultReply }, (server) =>
      Effect.gen(function* () {
        const odd: ReadonlyArray<unknown> = [null, true, 0, -1.5, "", "x", [], [1], {}, { a: null }]
        const members = [
          "prompt",
          "cwd",
          "model",
          "sandbox",
          "approval-policy",
          "config",
          "profile",
        ]
        const messages = [
          ...odd.map((params) => ({ method: "tools/call", params })),
          ...odd.map((name) => ({ method: "tools/call", params: { name } })),
          ...odd.map((args) => ({
            method: "tools/call",
            params: { name: "codex", arguments: args },
          })),
          ...odd.map((_meta) => ({ method: "tools/list", params: { _meta } })),
          ...odd.map((cursor) => ({ method: "tools/list", params: { cursor } })),
          ...odd.map((progressToken) => ({ method: "ping", params: { _meta: { progressToken } } })),
          ...members.flatMap((member) =>
            odd.map((value) => ({
              method: "tools/call",
              params: { name: "codex", arguments: { prompt: "x", [member]: value } },
            })),
          ),
        ]
        for (const [id, message] of messages.entries()) {
          yield* server.send({ jsonrpc: "2.0", id, ...message })
          yield* server.quiet
        }
        const counts = messages.map((_, id) => responses(server, id).length)
        assert.deepStrictEqual(
          messages.filter((_, id) => counts[id] !== 1),
          [],
        )
      }),
    ),
  )

  it.effect(
    "responses leak to another client: two connections with the same ids are kept apart",
    () =>
      withServer(
        {
          script: Script.byLastUserText([
            ["one", Script.reply(Script.text("for one"))],
            ["two", Script.reply(Script.text("for two"))],
          ]),
        },
        (one) =>
          Effect.gen(function* () {
            const two = yield* one.another
            yield* one.send(toolCall(1, "codex", { prompt: "one" }))
            yield* two.send(toolCall(1, "codex", { prompt: "two" }))
            for (const [server, answer] of [
              [one, "for one"],
              [two, "for two"],
            ] as const) {
              yield* server.quiet
              const [response, ...more] = responses(server, 1)
              assert.strictEqual(textOf(response ?? {}), answer)
              assert.deepStrictEqual(more, [])
              const thread = threadOf(response ?? {})
              for (const { _meta } of eventsOf(server.messages, 1)) {
                assert.strictEqual(_meta?.["threadId"], thread)
              }
            }
          }),
      ),
  )
})
