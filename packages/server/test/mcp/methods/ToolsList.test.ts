import { codexTools } from "@colloquy/protocol/mcp/CodexTools"
import { serverTools } from "@colloquy/protocol/mcp/ServerTools"
import { assert, describe, it } from "@effect/vitest"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { make as makeFeatures } from "../../../src/features/Features.ts"
import { prompt } from "../../../src/features/Prompt.ts"
import { tool } from "../../../src/features/Tool.ts"
import { withServer } from "../../support/Harness.ts"

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
  it.effect("returns the tools of the original on one page", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const pages = [
          yield* server.ask(1, "tools/list"),
          yield* server.ask(2, "tools/list", {}),
          yield* server.ask(3, "tools/list", { _meta: { progressToken: "p" } }),
        ]
        for (const { result } of pages) {
          assert.deepStrictEqual(Object.keys(result ?? {}), ["tools"])
          assert.deepStrictEqual(
            readTools(result).tools.map(({ name }) => name),
            ["codex", "codex-reply"],
          )
        }
      }),
    ),
  )

  it.effect("lists them and those of the embedding program page by page, each once, in order", () =>
    Effect.gen(function* () {
      const names = ["b", "a", "c"]
      const features = yield* makeFeatures({
        tools: names.map((name) => tool({ name, run: () => Effect.succeed(name) })),
      })
      yield* withServer({ features, ownTools: "all", pageSize: 4 }, (server) =>
        Effect.gen(function* () {
          const found: Array<string> = []
          let cursor: unknown
          for (let id = 1; id === 1 || cursor !== undefined; id++) {
            const params = cursor === undefined ? {} : { cursor }
            const { result } = yield* server.ask(id, "tools/list", params)
            const page = readTools(result)
            assert.isAtMost(page.tools.length, 4)
            found.push(...page.tools.map(({ name }) => name))
            cursor = page.nextCursor
          }
          assert.deepStrictEqual(found, [...serverTools.map(({ name }) => name), ...names])
        }),
      )
    }),
  )

  it.effect("lists every member of a tool's definition", () =>
    Effect.gen(function* () {
      const inputSchema = {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: { a: { $ref: "#/$defs/a" } },
        $defs: { a: { type: "string" } },
        additionalProperties: false,
      }
      const described = {
        name: "t",
        title: "T",
        description: "A tool.",
        annotations: { readOnlyHint: true },
        icons: [{ src: "data:image/png;base64,AA==", mimeType: "image/png" }],
      }
      const features = yield* makeFeatures({
        tools: [
          tool({
            ...described,
            input: inputSchema,
            output: { type: "object" },
            meta: { "example.com/x": 1 },
            run: () => Effect.succeed(""),
          }),
        ],
      })
      yield* withServer({ features }, (server) =>
        Effect.gen(function* () {
          const { result } = yield* server.ask(1, "tools/list")
          const tools = result?.["tools"] as ReadonlyArray<unknown>
          assert.deepStrictEqual(tools.at(-1), {
            ...described,
            inputSchema,
            outputSchema: { type: "object" },
            _meta: { "example.com/x": 1 },
          })
        }),
      )
    }),
  )

  it.effect("refuses a cursor that it did not return, or returned for another list", () =>
    Effect.gen(function* () {
      const names = ["a", "b"]
      const features = yield* makeFeatures({
        prompts: names.map((name) => prompt({ name, run: () => Effect.succeed(name) })),
      })
      yield* withServer({ features, pageSize: 1 }, (server) =>
        Effect.gen(function* () {
          const prompts = yield* server.ask(1, "prompts/list")
          const foreign = String(prompts.result?.["nextCursor"])
          assert.isAbove(foreign.length, 10)
          for (const [id, cursor] of ["zzz", "", foreign, `${foreign}A`].entries()) {
            const { error } = yield* server.ask(id + 10, "tools/list", { cursor })
            assert.deepStrictEqual(
              [error?.code, error?.message],
              [
                -32602,
                "Invalid params: params.cursor: expected the nextCursor of an earlier page of this list",
              ],
            )
          }
        }),
      )
    }),
  )

  it.effect("refuses a cursor that is not a text, and names it", () =>
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

  it("the arguments of every generation are included", () => {
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

  it.effect(
    "the result conforms to the specification, by the schema of another implementation",
    () =>
      withServer({ ownTools: "all" }, (server) =>
        Effect.gen(function* () {
          const { result } = yield* server.ask(1, "tools/list")
          const read = yield* Schema.decodeUnknownEffect(McpSchema.ListToolsResult)(result)
          assert.deepStrictEqual(
            read.tools.map(({ title }) => title),
            serverTools.map((tool) => tool.title),
          )
        }),
      ),
  )
})
