import { assert, describe, it } from "@effect/vitest"
import * as AiTool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { make } from "../../src/features/Features.ts"
import { CurrentRequest, fromToolkit } from "../../src/features/Toolkit.ts"
import { stateless } from "../support/Featuring.ts"
import { withServer } from "../support/Harness.ts"

class Greeting extends Context.Service<Greeting, { readonly word: string }>()("test/Greeting") {}

const kit = Toolkit.make(
  AiTool.make("greet", {
    description: "Greets.",
    parameters: Schema.Struct({ name: Schema.String }),
    success: Schema.String,
    dependencies: [Greeting],
  })
    .annotate(AiTool.Title, "Greet")
    .annotate(AiTool.Readonly, true),
  AiTool.make("structured", { success: Schema.Struct({ era: Schema.String }) }),
  AiTool.make("failing", { failure: Schema.Struct({ code: Schema.Finite }) }),
  AiTool.make("returning", {
    failure: Schema.Struct({ code: Schema.Finite }),
    failureMode: "return",
  }),
  AiTool.make("dying"),
)

const tools = fromToolkit(kit).pipe(
  Effect.provide(
    kit.toLayer({
      greet: ({ name }) => Effect.map(Greeting, ({ word }) => `${word} ${name}`),
      structured: () => Effect.map(CurrentRequest, (request) => ({ era: request?.era ?? "none" })),
      failing: () => Effect.fail({ code: 7 }),
      returning: () => Effect.fail({ code: 8 }),
      dying: () => Effect.die(new Error("the password is 4711")),
    }),
  ),
  Effect.provideService(Greeting, { word: "hello" }),
)

const text = (words: string) => [{ type: "text", text: words }]

describe("Toolkit", () => {
  it.effect("has its tools listed with their schemas and hints, and called", () =>
    Effect.gen(function* () {
      const features = yield* make({ tools: yield* tools })
      yield* withServer({ features }, (server) =>
        Effect.gen(function* () {
          const list = yield* server.ask(1, "tools/list")
          const all = list.result?.["tools"] as ReadonlyArray<Readonly<Record<string, unknown>>>
          const greet = all.find(({ name }) => name === "greet")
          assert.deepStrictEqual(
            { ...greet, inputSchema: undefined },
            {
              name: "greet",
              title: "Greet",
              description: "Greets.",
              inputSchema: undefined,
              annotations: {
                readOnlyHint: true,
                destructiveHint: true,
                idempotentHint: false,
                openWorldHint: true,
              },
            },
          )
          const results = [
            yield* server.call(2, "greet", { name: "Ann" }),
            yield* server.call(3, "greet", { name: 7 }),
            yield* server.call(4, "greet", {}),
            yield* server.call(5, "structured", {}),
            yield* server.ask(6, "tools/call", stateless({ name: "structured", arguments: {} })),
            yield* server.call(7, "failing"),
            yield* server.call(8, "returning"),
          ].map(({ result }) => [
            result?.["content"],
            result?.["structuredContent"],
            result?.["isError"],
          ])
          assert.deepStrictEqual(results, [
            [text("hello Ann"), undefined, undefined],
            [text("invalid type: integer `7`, expected a string (field `name`)"), undefined, true],
            [text("missing field `name` (expected a string)"), undefined, true],
            [text('{"era":"handshake"}'), { era: "handshake" }, undefined],
            [text('{"era":"stateless"}'), { era: "stateless" }, undefined],
            [text('{"code":7}'), undefined, true],
            [text('{"code":8}'), undefined, true],
          ])
          const died = yield* server.call(9, "dying")
          assert.deepStrictEqual(died.error, { code: -32603, message: "Internal error" })
        }),
      )
    }),
  )
})
