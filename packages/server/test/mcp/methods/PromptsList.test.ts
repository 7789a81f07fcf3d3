import { assert, describe, it } from "@effect/vitest"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { prompt } from "../../../src/features/Prompt.ts"
import { tool } from "../../../src/features/Tool.ts"
import {
  allPages,
  codeOf,
  initialized,
  noticesOf,
  stateless,
  withFeatures,
} from "../../support/Featuring.ts"
import { withServer } from "../../support/Harness.ts"

const named = (name: string) => prompt({ name, run: () => Effect.succeed(name) })

describe("prompts/list", () => {
  it.effect("is empty when no prompt was added", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        assert.deepStrictEqual((yield* server.ask(1, "prompts/list")).result, { prompts: [] })
      }),
    ),
  )

  it.effect("lists every member of a definition, and no more", () =>
    withFeatures(
      {
        prompts: [
          prompt({
            name: "review",
            title: "Review",
            description: "Reviews a file.",
            icons: [{ src: "https://example.com/i.png" }],
            meta: { "example.com/x": true },
            arguments: [
              { name: "file", title: "File", description: "Which one.", required: true },
              { name: "how", complete: () => Effect.succeed([]) },
            ],
            run: () => Effect.succeed(""),
          }),
          named("plain"),
        ],
      },
      (server) =>
        Effect.gen(function* () {
          const { result } = yield* server.ask(1, "prompts/list")
          assert.deepStrictEqual(result, {
            prompts: [
              {
                name: "review",
                title: "Review",
                description: "Reviews a file.",
                icons: [{ src: "https://example.com/i.png" }],
                _meta: { "example.com/x": true },
                arguments: [
                  { name: "file", title: "File", description: "Which one.", required: true },
                  { name: "how" },
                ],
              },
              { name: "plain" },
            ],
          })
          yield* Schema.decodeUnknownEffect(McpSchema.ListPromptsResult)(result)
        }),
    ),
  )

  it.effect("returns each once, page by page, also when one is removed in between", () =>
    withFeatures(
      { prompts: ["a", "b", "c", "d", "e"].map(named) },
      (server, features) =>
        Effect.gen(function* () {
          const { items, sizes } = yield* allPages(server, "prompts/list", "prompts")
          assert.deepStrictEqual(
            [items.map(({ name }) => name), sizes],
            [
              ["a", "b", "c", "d", "e"],
              [2, 2, 1],
            ],
          )
          const first = yield* server.ask("x", "prompts/list")
          yield* features.removePrompt("b")
          yield* features.removePrompt("c")
          const { result } = yield* server.ask("y", "prompts/list", {
            cursor: first.result?.["nextCursor"],
          })
          assert.deepStrictEqual(result?.["prompts"], [{ name: "d" }, { name: "e" }])
        }),
      { pageSize: 2 },
    ),
  )

  it.effect("a cursor is also valid for a client without a handshake", () =>
    withFeatures(
      { prompts: ["a", "b"].map(named) },
      (server) =>
        Effect.gen(function* () {
          const first = yield* server.ask(1, "prompts/list")
          const cursor = first.result?.["nextCursor"]
          const second = yield* server.ask(2, "prompts/list", stateless({ cursor }))
          assert.deepStrictEqual(second.result?.["prompts"], [{ name: "b" }])
          assert.strictEqual(second.result?.["resultType"], "complete")
          assert.strictEqual(second.result?.["ttlMs"], 0)
          const bad = yield* server.ask(3, "prompts/list", stateless({ cursor: "zzz" }))
          assert.strictEqual(codeOf(bad), -32602)
        }),
      { pageSize: 1 },
    ),
  )

  it.effect(
    "notifies a client that has read the list once of simultaneous changes, and no other client",
    () =>
      withFeatures({}, (server, features) =>
        Effect.gen(function* () {
          yield* initialized(server)
          yield* features.addPrompt(named("a"))
          yield* TestClock.adjust("1 second")
          yield* server.quiet
          assert.deepStrictEqual(noticesOf(server), [])
          yield* server.ask(1, "prompts/list")
          yield* features.addPrompt(named("b"))
          yield* features.removePrompt("a")
          yield* features.addTool(tool({ name: "t", run: () => Effect.succeed("") }))
          yield* server.quiet
          assert.deepStrictEqual(noticesOf(server), [])
          yield* TestClock.adjust("1 second")
          yield* server.quiet
          assert.deepStrictEqual(noticesOf(server), [
            { method: "notifications/prompts/list_changed", params: {} },
          ])
        }),
      ),
  )
})
