import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { type Features, type FeatureRefused, make } from "../../src/features/Features.ts"
import { prompt } from "../../src/features/Prompt.ts"
import { resource, resourceTemplate } from "../../src/features/Resource.ts"
import { tool } from "../../src/features/Tool.ts"
import { initialized, noticesOf, withFeatures } from "../support/Featuring.ts"

const aTool = (name: string) => tool({ name, run: () => Effect.succeed(name) })
const aPrompt = (name: string) => prompt({ name, run: () => Effect.succeed(name) })
const aResource = (uri: string) => resource({ uri, name: uri, read: () => Effect.succeed(uri) })
const aTemplate = (uriTemplate: string) =>
  resourceTemplate({ uriTemplate, name: uriTemplate, read: () => Effect.succeed("") })

class Word extends Context.Service<Word, string>()("test/Word") {}

const badName = "expected 1 to 128 of the characters A-Z a-z 0-9 _ . -"
const badAddress = "expected an absolute URI: `scheme:...`"

const refusals: ReadonlyArray<
  readonly [add: (features: Features) => Effect.Effect<void, FeatureRefused>, reason: string]
> = [
  ...["", "a b", "é", "x".repeat(129), "a/b"].flatMap((name) => [
    [(f: Features) => f.addTool(aTool(name)), badName] as const,
    [(f: Features) => f.addPrompt(aPrompt(name)), badName] as const,
  ]),
  [(f) => f.addTool(aTool("codex")), "the name of a tool of the server"],
  [(f) => f.addTool(aTool("conversationWait")), "the name of a tool of the server"],
  [(f) => f.addTool(aTool("tool")), "registered already"],
  [(f) => f.addPrompt(aPrompt("prompt")), "registered already"],
  [(f) => f.addResource(aResource("x:resource")), "registered already"],
  [(f) => f.addResourceTemplate(aTemplate("x:{a}")), "registered already"],
  [(f) => f.addResource(aResource("no address")), badAddress],
  [(f) => f.addResourceTemplate(aTemplate("{a}")), badAddress],
  [(f) => f.addResourceTemplate(aTemplate("x:y")), "expected a variable in braces: `{id}`"],
  [(f) => f.addResourceTemplate(aTemplate("x:{a}{b}")), "expected text between two variables"],
  [(f) => f.addResourceTemplate(aTemplate("x:{a}/{a}")), "the same variable occurs twice"],
  [(f) => f.addResourceTemplate(aTemplate("x:{a*}")), "`{a*}` is not `{name}` or `{+name}`"],
  [(f) => f.addResourceTemplate(aTemplate("x:{a}}")), "a brace is not closed or not opened"],
  [
    (f) => f.addTool(tool({ name: "t", input: { type: "string" }, run: () => Effect.succeed("") })),
    'expected a schema of `type: "object"`',
  ],
  [
    (f) =>
      f.addTool(
        tool({
          name: "t",
          input: { type: "object", properties: { a: { $ref: "https://example.com/a" } } },
          run: () => Effect.succeed(""),
        }),
      ),
    'the reference "https://example.com/a" does not resolve within the schema',
  ],
  [
    (f) =>
      f.addTool(
        tool({
          name: "t",
          input: { type: "object", properties: { a: { pattern: "^(a+)\\1$" } } },
          run: () => Effect.succeed(""),
        }),
      ),
    "`^(a+)\\1$` contains a back-reference",
  ],
  [
    (f) =>
      f.addTool(
        tool({
          name: "t",
          output: { $schema: "x:unknown" },
          run: () => Effect.succeed(""),
        }),
      ),
    'unknown schema dialect "x:unknown"',
  ],
  [
    (f) =>
      f.addPrompt(
        prompt({
          name: "p",
          arguments: [{ name: "a" }, { name: "a" }],
          run: () => Effect.succeed(""),
        }),
      ),
    "the same argument occurs twice",
  ],
]

const calls = tool({
  name: "calls",
  input: Schema.Struct({
    n: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })),
    day: Schema.optionalKey(Schema.FiniteFromString),
  }),
  output: Schema.Struct({ day: Schema.FiniteFromString }),
  run: ({ day = 0, n }) =>
    Effect.succeed(
      n === 9 ? { structuredContent: { day: "no" } } : { structuredContent: { day: day + n } },
    ),
})

const text = (words: string) => [{ type: "text", text: words }]

describe("Features", () => {
  for (const [i, [add, reason]] of refusals.entries()) {
    it.effect(`refuses what it cannot serve, says why, and changes nothing, ${i}`, () =>
      Effect.gen(function* () {
        const features = yield* make({
          tools: [aTool("tool")],
          prompts: [aPrompt("prompt")],
          resources: [aResource("x:resource")],
          resourceTemplates: [aTemplate("x:{a}")],
        })
        const refused = yield* Effect.flip(add(features))
        assert.strictEqual(refused._tag, "FeatureRefused")
        assert.strictEqual(refused.reason, reason)
        assert.include(refused.message, reason)
        const { prompts, resources, templates, tools } = features.catalog
        assert.deepStrictEqual(
          [tools, prompts, resources, templates].map((one) => [...one.entries()].length),
          [1, 1, 1, 1],
        )
      }),
    )
  }

  it.effect("L6 is bounded: one more is refused until one is removed", () =>
    Effect.gen(function* () {
      const features = yield* make({ tools: [aTool("a"), aTool("b")] }, { maxPerKind: 2 })
      const full = yield* Effect.flip(features.addTool(aTool("c")))
      assert.strictEqual(full.message, 'tool "c": the limit is 2')
      assert.isFalse(yield* features.removeTool("c"))
      assert.isTrue(yield* features.removeTool("a"))
      yield* features.addTool(aTool("c"))
    }),
  )

  it.effect(
    "what is added while the server runs is available at once, what is removed is not",
    () =>
      withFeatures({}, (server, features) =>
        Effect.gen(function* () {
          yield* initialized(server)
          yield* server.ask("tools", "tools/list")
          yield* features.addTool(aTool("new"))
          assert.deepStrictEqual((yield* server.call(1, "new")).result, { content: text("new") })
          yield* features.removeTool("new")
          const gone = yield* server.call(2, "new")
          assert.strictEqual(gone.error?.code, -32602)
          yield* TestClock.adjust("1 second")
          yield* server.quiet
          assert.deepStrictEqual(noticesOf(server), [
            { method: "notifications/tools/list_changed", params: {} },
          ])
        }),
      ),
  )

  it.effect("a definition gets the services of the context in which it is added", () =>
    Effect.gen(function* () {
      const spoken = tool({ name: "spoken", run: () => Effect.map(Word, (word) => word) })
      const features = yield* Effect.provideService(make({ tools: [spoken] }), Word, "first")
      yield* withFeaturesOf(features)
    }),
  )

  it.effect(
    "checks arguments and results with the tool's schemas, and describes faults for a model",
    () =>
      withFeatures({ tools: [calls] }, (server) =>
        Effect.gen(function* () {
          const results: Array<unknown> = []
          for (const [id, args] of [
            { n: 1, day: "2" },
            { n: 1 },
            {},
            { n: 10 },
            { n: 1, day: "x" },
            { n: 1, dya: "2" },
            [],
            null,
            { n: 9 },
          ].entries()) {
            const { error, result } = yield* server.call(id, "calls", args)
            results.push(error ?? [result?.["content"], result?.["structuredContent"]])
          }
          assert.deepStrictEqual(results, [
            [text('{"day":"3"}'), { day: "3" }],
            [text('{"day":"1"}'), { day: "1" }],
            [text("missing field `n` (expected an integer)"), undefined],
            [text("invalid value: integer `10`, expected at most 9 (field `n`)"), undefined],
            [text("arguments.day: Expected a finite number"), undefined],
            [text("unknown field `dya`, did you mean `day`?"), undefined],
            [text("invalid type: sequence, expected a map of arguments for `calls`"), undefined],
            [text("invalid type: null, expected a map of arguments for `calls`"), undefined],
            { code: -32603, message: "Internal error" },
          ])
        }),
      ),
  )
})

const withFeaturesOf = (features: Features) =>
  withFeatures(
    { tools: [...features.catalog.tools.entries()].map(([, { value }]) => value) },
    (server) =>
      Effect.gen(function* () {
        const { result } = yield* server.call(1, "spoken")
        assert.deepStrictEqual(result, { content: text("first") })
      }),
  )
