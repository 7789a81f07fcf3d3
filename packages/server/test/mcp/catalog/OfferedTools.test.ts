import { serverTools } from "@colloquy/protocol/mcp/ServerTools"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { make as makeFeatures } from "../../../src/features/Features.ts"
import { tool } from "../../../src/features/Tool.ts"
import { type HarnessOptions, withServer, type Harness } from "../../support/Harness.ts"
import { contentOf, textOf, threadOf } from "../../support/Wire.ts"

const all = serverTools.map(({ name }) => name)

/** The names of `tools/list` of a server with one tool of the embedder. */
const listedBy = (server: Harness) =>
  Effect.map(server.ask("list", "tools/list"), ({ result }) =>
    ((result?.["tools"] ?? []) as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name),
  )

const serving = <A, E>(
  ownTools: HarnessOptions["ownTools"],
  body: (server: Harness) => Effect.Effect<A, E>,
) =>
  Effect.gen(function* () {
    const features = yield* Effect.orDie(
      makeFeatures({ tools: [tool({ name: "own", run: () => Effect.succeed("ran") })] }),
    )
    const chosen = ownTools === undefined ? {} : { ownTools }
    return yield* withServer({ features, ...chosen }, body)
  })

describe("the server's own tools", () => {
  it.effect.each<readonly [HarnessOptions["ownTools"], ReadonlyArray<string>]>([
    [undefined, ["codex", "codex-reply"]],
    ["default", ["codex", "codex-reply"]],
    ["all", all],
    // In the order of the server, whatever the order of the names.
    [
      ["conversationWait", "codex"],
      ["codex", "conversationWait"],
    ],
    [[], []],
  ])(
    "chosen by %j: they are listed, followed by the tools of the embedding program",
    ([choice, names]) =>
      serving(choice, (server) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* listedBy(server), [...names, "own"])
          assert.strictEqual(textOf(yield* server.call(1, "own")), "ran")
        }),
      ),
  )

  it.effect("can be called by default without being listed, as in the original", () =>
    serving(undefined, (server) =>
      Effect.gen(function* () {
        const { result } = yield* server.call(1, "conversationsList", {})
        assert.deepStrictEqual(result?.["structuredContent"], { conversations: [] })
      }),
    ),
  )

  it.effect("L13 cannot be called where the choice does not name them, which the error says", () =>
    serving(["codex", "conversationWait"], (server) =>
      Effect.gen(function* () {
        const disabled = yield* server.call(1, "conversationsList", {})
        const data = { tools: ["codex", "conversationWait", "own"] }
        assert.deepStrictEqual(disabled.error, {
          code: -32602,
          message:
            "Tool 'conversationsList' is not enabled: the setting `mcp_tools` does not name it",
          data,
        })
        const unknown = yield* server.call(2, "conversationWai", {})
        assert.deepStrictEqual(unknown.error, {
          code: -32602,
          message: "Unknown tool 'conversationWai', did you mean 'conversationWait'?",
          data,
        })
      }),
    ),
  )

  it.effect("are named in the error for an unknown one as they are at each call", () =>
    Effect.gen(function* () {
      const own = tool({ name: "own", run: () => Effect.succeed("ran") })
      const features = yield* Effect.orDie(makeFeatures({ tools: [own] }))
      yield* withServer({ features, ownTools: ["codex"] }, (server) =>
        Effect.gen(function* () {
          const errorOf = (id: number, name: string) =>
            Effect.map(server.call(id, name, {}), ({ error }) => error)
          const error = (message: string, tools: ReadonlyArray<string>) => ({
            code: -32602,
            message,
            data: { tools },
          })
          const before = error("Unknown tool 'later', did you mean 'late'?", [
            "codex",
            "own",
            "late",
          ])
          const without = error("Unknown tool 'later'", ["codex", "own"])
          assert.deepStrictEqual(yield* errorOf(1, "later"), without)
          assert.deepStrictEqual(yield* errorOf(2, "later"), without)
          yield* Effect.orDie(
            features.addTool(tool({ name: "late", run: () => Effect.succeed("ran late") })),
          )
          assert.deepStrictEqual(yield* errorOf(3, "later"), before)
          assert.strictEqual(textOf(yield* server.call(4, "late")), "ran late")
          yield* features.removeTool("late")
          assert.deepStrictEqual(yield* errorOf(5, "later"), without)
          // As many tools as before, but others.
          yield* features.removeTool("own")
          yield* Effect.orDie(
            features.addTool(tool({ name: "late", run: () => Effect.succeed("ran late") })),
          )
          assert.deepStrictEqual(
            yield* errorOf(6, "later"),
            error("Unknown tool 'later', did you mean 'late'?", ["codex", "late"]),
          )
          assert.deepStrictEqual(
            yield* errorOf(7, "x".repeat(200)),
            error(`Unknown tool '${"x".repeat(200)}'`, ["codex", "late"]),
          )
        }),
      )
    }),
  )

  it.effect("say how to continue a conversation only where `codex-reply` can be called", () =>
    serving(["codex"], (server) =>
      Effect.gen(function* () {
        const answer = yield* server.call(1, "codex", { prompt: "x" })
        const [first] = contentOf(threadOf(answer), textOf(answer))
        assert.deepStrictEqual(answer.result?.["content"], [first])
      }),
    ),
  )
})
