import { assert, describe, it } from "@effect/vitest"
import * as AiTool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { fromToolkit } from "../../src/host/HostTools.ts"
import type { Tool } from "../../src/Tool.ts"
import { callOf, watched } from "../support/Context.ts"

class Greeting extends Context.Service<Greeting, { readonly word: string }>()("test/Greeting") {}

const Plain = AiTool.make("plain", {
  description: "greets",
  parameters: Schema.Struct({ name: Schema.String }),
  success: Schema.String,
  dependencies: [Greeting],
})
const Structured = AiTool.make("structured", {
  success: Schema.Struct({ n: Schema.FiniteFromString }),
})
const good = Toolkit.make(Plain, Structured)
const goodTools = fromToolkit(good).pipe(
  Effect.provide(
    good.toLayer({
      plain: ({ name }) => Effect.map(Greeting, ({ word }) => `${word} ${name}`),
      structured: () => Effect.succeed({ n: 7 }),
    }),
  ),
  Effect.provideService(Greeting, { word: "hello" }),
)

const code = Schema.Struct({ code: Schema.Finite })
const bad = Toolkit.make(
  AiTool.make("failing", { failure: code }),
  AiTool.make("returning", { failure: code, failureMode: "return" }),
  AiTool.make("dying"),
  AiTool.make("stopping"),
  AiTool.make("lying", { success: Schema.Finite }),
  AiTool.make("hanging"),
  AiTool.make("waiting"),
)
const badTools = fromToolkit(bad).pipe(
  Effect.provide(
    bad.toLayer({
      failing: () => Effect.fail({ code: 7 }),
      returning: () => Effect.fail({ code: 8 }),
      dying: () => Effect.die(new Error("the password is 4711")),
      stopping: () => Effect.interrupt,
      // A cast lets this handler return a value of the wrong type.
      lying: () => Effect.succeed("text" as unknown as number),
      hanging: () => Effect.never,
      waiting: () => Effect.sleep("2500 millis"),
    }),
  ),
)

const named = (tools: ReadonlyArray<Tool>, name: string) =>
  Effect.orDie(Effect.fromNullishOr(tools.find((tool) => tool.name === name)))

describe("HostTools", () => {
  it.effect("offers the tools in order, with the schemas of their arguments", () =>
    Effect.gen(function* () {
      const { settings } = watched().context
      const [plain, structured] = (yield* goodTools).map(({ spec }) => spec(settings))
      assert.deepInclude(plain, { type: "function", name: "plain", description: "greets" })
      assert.deepNestedInclude(plain, { "parameters.required": ["name"] })
      assert.deepInclude(structured, { name: "structured", description: "structured" })
    }),
  )

  it.effect("returns texts unchanged and other results as encoded JSON", () =>
    Effect.gen(function* () {
      const tools = yield* goodTools
      const { asked, context } = watched()
      const plain = yield* named(tools, "plain")
      const structured = yield* named(tools, "structured")
      assert.deepStrictEqual(
        [
          yield* plain.run(callOf("plain", { name: "you" }), context),
          yield* structured.run(callOf("structured", {}), context),
        ],
        [{ output: "hello you" }, { output: '{"n":"7"}' }],
      )
      assert.deepStrictEqual(asked, [])
    }),
  )

  for (const args of ["", "{", "[1", '{"name": 1}', "null", "{}"]) {
    it.effect(`L13 reports to the model what is wrong with the arguments ${args}`, () =>
      Effect.gen(function* () {
        const plain = yield* named(yield* goodTools, "plain")
        const { output } = yield* plain.run(callOf("plain", args), watched().context)
        assert.match(output, /^(?:failed to parse function arguments: |tool `plain` failed: )./)
      }),
    )
  }

  it.effect.each([
    ["failing", 'tool `failing` failed: {"code":7}'],
    ["returning", '{"code":8}'],
    ["dying", "tool `dying` failed: internal error"],
    ["stopping", "tool `stopping` failed: internal error"],
  ] as const)("L13 the model reads that a handler failed: %s", ([name, expected]) =>
    Effect.gen(function* () {
      const tool = yield* named(yield* badTools, name)
      const result = yield* tool.run(callOf(name, {}), watched().context)
      assert.deepStrictEqual(result, { output: expected })
    }),
  )

  it.effect("L13 a handler with a result of another type is a failure", () =>
    Effect.gen(function* () {
      const tool = yield* named(yield* badTools, "lying")
      const { output } = yield* tool.run(callOf("lying", {}), watched().context)
      assert.match(output, /^tool `lying` failed: ./)
    }),
  )

  it.effect.each([
    ["structured", {}, { Ok: { n: "7" } }],
    ["plain", { name: "you" }, { Ok: "hello you" }],
    ["failing", {}, { Err: 'tool `failing` failed: {"code":7}' }],
    ["returning", {}, { Ok: { code: 8 } }],
    ["dying", {}, { Err: "tool `dying` failed: internal error" }],
  ] as const)("listeners see the call of %s begin and end", ([name, args, result]) =>
    Effect.gen(function* () {
      const tool = yield* named([...(yield* goodTools), ...(yield* badTools)], name)
      const { context, events } = watched()
      yield* tool.run(callOf(name, args), context)
      assert.deepStrictEqual(events, [
        { type: "tool_call_begin", call_id: "c", tool: name, arguments: args },
        {
          type: "tool_call_end",
          call_id: "c",
          tool: name,
          duration: { secs: 0, nanos: 0 },
          result,
        },
      ])
    }),
  )

  it.effect("the end tells how long the call took", () =>
    Effect.gen(function* () {
      const tool = yield* named(yield* badTools, "waiting")
      const { context, events } = watched()
      const fiber = yield* Effect.forkChild(tool.run(callOf("waiting", {}), context), {
        startImmediately: true,
      })
      yield* TestClock.adjust("2500 millis")
      yield* Fiber.join(fiber)
      assert.deepNestedInclude(events[1], { duration: { secs: 2, nanos: 500_000_000 } })
    }),
  )

  it.effect("L5 a call that is interrupted ends, too", () =>
    Effect.gen(function* () {
      const tool = yield* named(yield* badTools, "hanging")
      const { context, events } = watched()
      const fiber = yield* Effect.forkChild(tool.run(callOf("hanging", {}), context), {
        startImmediately: true,
      })
      yield* Fiber.interrupt(fiber)
      assert.deepNestedInclude(events[1], { type: "tool_call_end", result: { Err: "interrupted" } })
    }),
  )

  it.effect("L14 an interrupt ends a handler that never ends", () =>
    Effect.gen(function* () {
      const tool = yield* named(yield* badTools, "hanging")
      const fiber = yield* Effect.forkChild(tool.run(callOf("hanging", {}), watched().context), {
        startImmediately: true,
      })
      yield* Fiber.interrupt(fiber)
    }),
  )
})
