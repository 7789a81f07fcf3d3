import { codexTools } from "@colloquy/protocol/mcp/CodexTools"
import { conversationTools } from "@colloquy/protocol/mcp/ConversationTools"
import { assert, describe, it } from "@effect/vitest"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { withServer } from "../support/Harness.ts"

/** Old clients take the first two. */
const allTools = [...codexTools, ...conversationTools]

interface ObjectSchema {
  readonly type: string
  readonly required: ReadonlyArray<string>
  readonly additionalProperties: boolean
  readonly properties: Readonly<
    Record<string, { readonly type: string; readonly description?: string }>
  >
}

const readTools = Schema.decodeUnknownSync(McpSchema.ListToolsResult)

describe("tools/list", () => {
  it.effect("gives all tools on one page, whatever the cursor", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const pages = [
          yield* server.ask(1, "tools/list"),
          yield* server.ask(2, "tools/list", {}),
          yield* server.ask(3, "tools/list", { cursor: "zzz" }),
          yield* server.ask(4, "tools/list", { _meta: { progressToken: "p" } }),
        ]
        for (const { result } of pages) {
          assert.deepStrictEqual(Object.keys(result ?? {}), ["tools"])
          assert.deepStrictEqual(
            readTools(result).tools.map(({ name }) => name),
            allTools.map(({ name }) => name),
          )
        }
      }),
    ),
  )

  it.effect("refuses a cursor that is no text, and names it", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const { error } = yield* server.ask(1, "tools/list", { cursor: 7 })
        assert.deepStrictEqual(error, {
          code: -32602,
          message: "Invalid params: params.cursor: Expected string",
          data: { issues: [{ path: ["cursor"], message: "Expected string" }] },
        })
      }),
    ),
  )

  it.each(codexTools.map((tool) => [tool.name, tool] as const))(
    "%s: both schemas describe an object, every argument is explained",
    (_, tool) => {
      const input = tool.inputSchema as unknown as ObjectSchema
      assert.deepStrictEqual(
        [input.type, input.required, input.additionalProperties],
        ["object", ["prompt"], false],
      )
      assert.notInclude(JSON.stringify(tool), "$ref")
      for (const [name, property] of Object.entries(input.properties)) {
        assert.isString(property.type, name)
        assert.isAbove(property.description?.length ?? 0, 10, name)
      }
      const output = tool.outputSchema as unknown as ObjectSchema
      assert.deepStrictEqual(
        [output.type, output.required, Object.keys(output.properties)],
        [
          "object",
          ["threadId", "conversationId", "content"],
          ["threadId", "conversationId", "content"],
        ],
      )
    },
  )

  it("the arguments of every generation are there", () => {
    assert.deepStrictEqual(
      codexTools.map((tool) =>
        Object.keys((tool.inputSchema as unknown as ObjectSchema).properties),
      ),
      [
        [
          "approval-policy",
          "base-instructions",
          "compact-prompt",
          "config",
          "cwd",
          "developer-instructions",
          "include-plan-tool",
          "model",
          "profile",
          "prompt",
          "sandbox",
        ],
        ["conversationId", "prompt", "sessionId", "threadId", "while-running"],
      ],
    )
  })

  it.effect("the result is one of the specification's, by another implementation's schema", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const { result } = yield* server.ask(1, "tools/list")
        const read = yield* Schema.decodeUnknownEffect(McpSchema.ListToolsResult)(result)
        assert.deepStrictEqual(
          read.tools.map(({ title }) => title),
          allTools.map((tool) => tool.title),
        )
      }),
    ),
  )
})
