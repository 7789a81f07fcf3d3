import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { assert, describe, it } from "@effect/vitest"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { prompt } from "../../../src/features/Prompt.ts"
import { codeOf, stateless, withFeatures } from "../../support/Featuring.ts"

class Broken extends Data.TaggedError("Broken")<{ readonly message: string }> {}

const review = prompt({
  name: "review",
  description: "Reviews a file.",
  arguments: [{ name: "file", required: true }, { name: "how" }],
  run: ({ file, how = "well" }) => Effect.succeed(`Review ${file} ${how}.`),
})

const greet = prompt({
  name: "greet",
  run: (_, { era }) =>
    Effect.succeed({
      description: "For this one.",
      messages: [
        { role: "user" as const, content: { type: "text" as const, text: `hello in ${era}` } },
        {
          role: "assistant" as const,
          content: { type: "image" as const, data: "AA==", mimeType: "image/png" },
        },
      ],
    }),
})

const failing = [
  prompt({ name: "dies", run: () => Effect.die("secret") }),
  prompt({
    name: "throws",
    run: () => {
      throw new Error("secret")
    },
  }),
  prompt({ name: "fails", run: () => Effect.fail(new Broken({ message: "secret" })) }),
  prompt({
    name: "refuses",
    run: () => Effect.fail(new JsonRpcError({ code: ErrorCode.invalidParams, message: "not so" })),
  }),
]

const text = (words: string) => ({ role: "user", content: { type: "text", text: words } })

const slow = prompt({
  name: "slow",
  run: (_, { progress }) => Effect.as(Effect.andThen(progress(1), progress(2)), "done"),
})

describe("prompts/get", () => {
  it.effect("L13 sends no progress for an invalid token", () =>
    withFeatures({ prompts: [slow] }, (server) =>
      Effect.gen(function* () {
        const tokens = ["t", {}, 1.5, "t".repeat(2_000)]
        for (const [id, progressToken] of tokens.entries()) {
          for (const params of [{ name: "slow" }, stateless({ name: "slow" })]) {
            const { _meta } = { _meta: {}, ...params }
            const answer = yield* server.ask(`${id} ${Object.keys(_meta).length}`, "prompts/get", {
              ...params,
              _meta: { ..._meta, progressToken },
            })
            assert.deepStrictEqual(answer.result?.["messages"], [text("done")])
          }
        }
        assert.deepStrictEqual(
          server.messages.flatMap(({ params }) => params?.["progressToken"] ?? []),
          ["t", "t", "t", "t"],
        )
      }),
    ),
  )

  it.effect("returns the messages with the arguments in them", () =>
    withFeatures({ prompts: [review, greet] }, (server) =>
      Effect.gen(function* () {
        const get = (id: number, name: string, args?: object) =>
          server.ask(id, "prompts/get", { name, ...(args && { arguments: args }) })
        assert.deepStrictEqual((yield* get(1, "review", { file: "a.ts" })).result, {
          description: "Reviews a file.",
          messages: [text("Review a.ts well.")],
        })
        assert.deepStrictEqual((yield* get(2, "greet")).result, {
          description: "For this one.",
          messages: [
            text("hello in handshake"),
            { role: "assistant", content: { type: "image", data: "AA==", mimeType: "image/png" } },
          ],
        })
        const new_ = yield* server.ask(3, "prompts/get", stateless({ name: "greet" }))
        const messages = new_.result?.["messages"] as ReadonlyArray<unknown>
        assert.deepStrictEqual(messages[0], text("hello in stateless"))
        assert.strictEqual(new_.result?.["resultType"], "complete")
      }),
    ),
  )

  it.effect.each<readonly [params: unknown, message: string, data: unknown]>([
    [{ name: "reviw" }, "Unknown prompt 'reviw', did you mean 'review'?", { prompts: ["review"] }],
    [{ name: "review" }, "Missing argument 'file' of prompt 'review'", { missing: ["file"] }],
    [
      { name: "review", arguments: { file: "a", hwo: "b" } },
      "Unknown argument 'hwo' of prompt 'review', did you mean 'how'?",
      { argument: "hwo", arguments: ["file", "how"] },
    ],
  ])("refuses unknown names: %j", ([params, message, data]) =>
    withFeatures({ prompts: [review] }, (server) =>
      Effect.gen(function* () {
        const { error } = yield* server.ask(1, "prompts/get", params)
        assert.deepStrictEqual(error, { code: -32602, message, data })
        const other = yield* server.ask(2, "prompts/get", stateless(params as object))
        assert.deepStrictEqual(other.error, { code: -32602, message, data })
      }),
    ),
  )

  it.effect("accepts only texts as arguments and name", () =>
    withFeatures({ prompts: [review] }, (server) =>
      Effect.gen(function* () {
        for (const [id, params] of [
          { name: "review", arguments: { file: 7 } },
          { name: "review", arguments: ["a"] },
          { name: 7 },
          {},
        ].entries()) {
          assert.strictEqual(codeOf(yield* server.ask(id, "prompts/get", params)), -32602)
        }
      }),
    ),
  )

  it.effect("L13 a defect is an internal error without any secret, and the server continues", () =>
    withFeatures({ prompts: [review, ...failing] }, (server) =>
      Effect.gen(function* () {
        for (const [id, name] of ["dies", "throws", "fails"].entries()) {
          const { error } = yield* server.ask(id, "prompts/get", { name })
          assert.deepStrictEqual(error, { code: -32603, message: "Internal error" })
        }
        const refused = yield* server.ask(8, "prompts/get", { name: "refuses" })
        assert.deepStrictEqual(refused.error, { code: -32602, message: "not so" })
        const good = yield* server.ask(9, "prompts/get", {
          name: "review",
          arguments: { file: "a" },
        })
        assert.isDefined(good.result)
      }),
    ),
  )
})
