import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { CompletionRequest } from "../../../src/features/Completion.ts"
import { prompt } from "../../../src/features/Prompt.ts"
import { resource, resourceTemplate } from "../../../src/features/Resource.ts"
import { codeOf, stateless, withFeatures } from "../../support/Featuring.ts"

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`)

const seen: Array<Pick<CompletionRequest, "value" | "arguments">> = []

const definitions = {
  prompts: [
    prompt({
      name: "p",
      arguments: [
        {
          name: "few",
          complete: ({ value, arguments: args }: CompletionRequest) =>
            Effect.sync(() => {
              seen.push({ value, arguments: args })
              return ["alpha", "beta"].filter((one) => one.startsWith(value))
            }),
        },
        { name: "many", complete: () => Effect.succeed(numbers(101)) },
        {
          name: "counted",
          complete: () => Effect.succeed({ values: ["a"], total: 7 }),
        },
        { name: "more", complete: () => Effect.succeed({ values: ["a"], hasMore: true }) },
        { name: "plain" },
        { name: "dies", complete: () => Effect.die("secret") },
        { name: "fails", complete: () => Effect.fail("secret") },
      ],
      run: () => Effect.succeed(""),
    }),
  ],
  resources: [resource({ uri: "x:one", name: "one", read: () => Effect.succeed("") })],
  resourceTemplates: [
    resourceTemplate({
      uriTemplate: "x:{a}/{b}",
      name: "t",
      complete: { a: () => Effect.succeed(["left"]) },
      read: () => Effect.succeed(""),
    }),
  ],
}

const ofPrompt = (name: string, value = "", more: object = {}) => ({
  ref: { type: "ref/prompt", name: "p" },
  argument: { name, value },
  ...more,
})
const ofTemplate = (uri: string, name: string) => ({
  ref: { type: "ref/resource", uri },
  argument: { name, value: "" },
})

describe("completion/complete", () => {
  it.effect.each<readonly [params: object, completion: unknown]>([
    [ofPrompt("few"), { values: ["alpha", "beta"], total: 2, hasMore: false }],
    [ofPrompt("few", "b"), { values: ["beta"], total: 1, hasMore: false }],
    [ofPrompt("many"), { values: numbers(100), total: 101, hasMore: true }],
    [ofPrompt("counted"), { values: ["a"], total: 7, hasMore: true }],
    [ofPrompt("more"), { values: ["a"], hasMore: true }],
    [ofPrompt("plain"), { values: [], total: 0, hasMore: false }],
    [ofTemplate("x:{a}/{b}", "a"), { values: ["left"], total: 1, hasMore: false }],
    [ofTemplate("x:{a}/{b}", "b"), { values: [], total: 0, hasMore: false }],
    [ofTemplate("x:one", "a"), { values: [], total: 0, hasMore: false }],
  ])("returns at most 100 values, and whether there are more, %#", ([params, completion]) =>
    withFeatures(definitions, (server) =>
      Effect.gen(function* () {
        const old = yield* server.ask(1, "completion/complete", params)
        assert.deepStrictEqual(old.result, { completion })
        const new_ = yield* server.ask(2, "completion/complete", stateless(params))
        assert.deepStrictEqual(new_.result?.["completion"], completion)
      }),
    ),
  )

  it.effect("a callback gets the typed text, and the arguments that are already chosen", () =>
    withFeatures(definitions, (server) =>
      Effect.gen(function* () {
        seen.length = 0
        const context = { arguments: { plain: "x" } }
        yield* server.ask(1, "completion/complete", ofPrompt("few", "al", { context }))
        yield* server.ask(2, "completion/complete", ofPrompt("few", "al"))
        assert.deepStrictEqual(seen, [
          { value: "al", arguments: { plain: "x" } },
          { value: "al", arguments: {} },
        ])
      }),
    ),
  )

  it.effect.each<readonly [params: object, message: string]>([
    [
      { ref: { type: "ref/prompt", name: "q" }, argument: { name: "a", value: "" } },
      "Unknown prompt 'q', did you mean 'p'?",
    ],
    [ofPrompt("fwe"), "Unknown argument 'fwe' of prompt 'p', did you mean 'few'?"],
    [ofTemplate("x:{a}", "a"), "Unknown resource template 'x:{a}'"],
    [ofTemplate("x:{a}/{b}", "c"), "Unknown argument 'c' of 'x:{a}/{b}', did you mean 'a'?"],
  ])("refuses unknown names: %j", ([params, message]) =>
    withFeatures(definitions, (server) =>
      Effect.gen(function* () {
        const { error } = yield* server.ask(1, "completion/complete", params)
        assert.deepStrictEqual([error?.code, error?.message], [-32602, message])
      }),
    ),
  )

  it.effect(
    "L13 invalid params are an error, failing callbacks are internal errors, and the server continues",
    () =>
      withFeatures(definitions, (server) =>
        Effect.gen(function* () {
          const codes: Array<unknown> = []
          for (const [id, params] of [
            {},
            { ref: { type: "ref/other" }, argument: { name: "a", value: "" } },
            { ...ofPrompt("few"), argument: { name: "few", value: 7 } },
            { ...ofPrompt("few"), context: { arguments: { a: 1 } } },
            ofPrompt("dies"),
            ofPrompt("fails"),
            ofPrompt("few"),
          ].entries()) {
            codes.push(codeOf(yield* server.ask(id, "completion/complete", params)))
          }
          assert.deepStrictEqual(codes, [-32602, -32602, -32602, -32602, -32603, -32603, undefined])
        }),
      ),
  )
})
