import { assert, describe, it } from "@effect/vitest"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { resourceTemplate } from "../../../src/features/Resource.ts"
import { allPages, codeOf, withFeatures } from "../../support/Featuring.ts"
import { withServer } from "../../support/Harness.ts"

const own = [
  {
    uriTemplate: "colloquy://conversations/{id}",
    name: "conversation",
    title: "Conversation",
    description: "The state of a conversation and what was said and done in it.",
    mimeType: "application/json",
  },
  {
    uriTemplate: "colloquy://conversations/{id}/transcript.md",
    name: "transcript",
    title: "Transcript of a conversation",
    description: "What was said and done in a conversation, to be read by a person.",
    mimeType: "text/markdown",
  },
]

const template = (uriTemplate: string) =>
  resourceTemplate({ uriTemplate, name: "t", read: () => Effect.succeed("") })

describe("resources/templates/list", () => {
  it.effect("lists those of the conversations", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const { result } = yield* server.ask(1, "resources/templates/list")
        assert.deepStrictEqual(result, { resourceTemplates: own })
        yield* Schema.decodeUnknownEffect(McpSchema.ListResourceTemplatesResult)(result)
      }),
    ),
  )

  it.effect(
    "lists those of the embedding program first, page by page, and rejects other cursors",
    () =>
      withFeatures(
        { resourceTemplates: [template("x:{a}"), template("y:{+a}")] },
        (server) =>
          Effect.gen(function* () {
            const method = "resources/templates/list"
            const { items, sizes } = yield* allPages(server, method, "resourceTemplates")
            assert.deepStrictEqual(
              items.map(({ uriTemplate }) => uriTemplate),
              ["x:{a}", "y:{+a}", ...own.map(({ uriTemplate }) => uriTemplate)],
            )
            assert.deepStrictEqual(sizes, [3, 1])
            assert.strictEqual(codeOf(yield* server.ask("bad", method, { cursor: "zzz" })), -32602)
          }),
        { pageSize: 3 },
      ),
  )
})
