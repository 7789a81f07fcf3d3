import { describe, expectTypeOf, it } from "vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { Agent } from "../src/testing/index.ts"

class Shop extends Context.Service<Shop, { readonly open: boolean }>()("types/Shop") {}
class Rules extends Context.Service<Rules, { readonly max: number }>()("types/Rules") {}
class Provider extends Context.Service<Provider, { readonly key: string }>()("types/Provider") {}

const refund = Agent.tool("refund", {
  input: { order: Schema.String, cents: Schema.Int },
  approve: ({ cents }) => Effect.map(Rules, ({ max }) => cents > max),
  run: ({ order }) => {
    expectTypeOf(order).toEqualTypeOf<string>()
    return Effect.flatMap(Shop, ({ open }) =>
      open ? Effect.succeed(1) : Effect.fail("closed" as const),
    )
  },
})
const greet = Agent.tool("greet", {
  input: Schema.Struct({ name: Schema.String }),
  output: Schema.String,
  run: ({ name }) => Effect.succeed(name),
})

declare const languageModel: Layer.Layer<LanguageModel.LanguageModel, "no key", Provider>

describe("types of Agent", () => {
  it("a tool has the services and failures of its functions, without annotations", () => {
    expectTypeOf<Agent.FailuresOf<typeof refund>>().toEqualTypeOf<"closed">()
    expectTypeOf(refund).toExtend<
      Agent.Tools<
        Agent.Question<"refund", { readonly order: string; readonly cents: number }>,
        "closed",
        Shop | Rules
      >
    >()
  })

  it("opening needs what the tools, the model and the scope need, and fails with what the model does", () => {
    const make = () =>
      Agent.make({ instructions: "", model: languageModel, tools: [refund, greet] })
    type Opened = ReturnType<ReturnType<typeof make>["open"]>
    expectTypeOf<Effect.Services<Opened>>().toEqualTypeOf<Shop | Rules | Provider | Scope.Scope>()
    expectTypeOf<"no key">().toExtend<Effect.Error<Opened>>()
    type Chat = Effect.Success<Opened>
    const ask = (chat: Chat) =>
      chat.ask("hi", {
        onApproval: (question) => {
          if (question.tool === "greet") {
            expectTypeOf(question.input).toEqualTypeOf<{ readonly name: string }>()
            return true
          }
          expectTypeOf(question.input.cents).toEqualTypeOf<number>()
          return "approved_for_session"
        },
      })
    expectTypeOf<ReturnType<typeof ask>>().toEqualTypeOf<Agent.Ask>()
    expectTypeOf<ReturnType<typeof ask>>().toExtend<Stream.Stream<EventMsg, Agent.TurnError>>()
  })

  it("a policy's services are those of the ask, and a schema types the value", () => {
    const ask = (chat: Agent.Chat<Agent.Question<"a">>) =>
      chat.ask("hi", {
        schema: Schema.Struct({ ok: Schema.Boolean }),
        onApproval: () => Effect.map(Rules, ({ max }) => max > 1),
      })
    type Asked = ReturnType<typeof ask>
    expectTypeOf<Effect.Services<Asked["result"]>>().toEqualTypeOf<Rules>()
    expectTypeOf<Effect.Success<Asked["result"]>["value"]>().toEqualTypeOf<{
      readonly ok: boolean
    }>()
  })

  it("a chat cannot be opened without the services of its tools, which the type names", () => {
    const agent = () => Agent.make({ instructions: "", model: Agent.offline(), tools: [refund] })
    type Opened = ReturnType<ReturnType<typeof agent>["open"]>
    expectTypeOf<Effect.Services<Opened>>().toEqualTypeOf<Shop | Rules | Scope.Scope>()
    expectTypeOf<Opened>().not.toExtend<Effect.Effect<unknown, unknown, Scope.Scope>>()
  })

  it("the questions of the machine are there where it is given, and only there", () => {
    const without = () => Agent.make({ instructions: "", model: Agent.offline(), tools: [greet] })
    type Asked<A> = A extends Agent.Agent<infer Q, infer _E, infer _R, infer _T> ? Q : never
    expectTypeOf<Asked<ReturnType<typeof without>>["tool"]>().toEqualTypeOf<"greet">()
    const withMachine = () =>
      Agent.make({
        instructions: "",
        model: Agent.offline(),
        tools: [greet],
        machine: Agent.machine({ cwd: "/work" }),
        onApproval: (question) => {
          switch (question.tool) {
            case "greet":
              expectTypeOf(question.input).toEqualTypeOf<{ readonly name: string }>()
              return true
            case "shell":
              expectTypeOf(question.input).toEqualTypeOf<{
                readonly command: ReadonlyArray<string>
                readonly cwd: string
              }>()
              return Effect.map(Rules, ({ max }) => max > 1)
            case "apply_patch":
              expectTypeOf(question.input.changes).toExtend<Readonly<Record<string, object>>>()
              return "abort"
          }
        },
      })
    type Made = ReturnType<typeof withMachine>
    expectTypeOf<Asked<Made>["tool"]>().toEqualTypeOf<"greet" | "shell" | "apply_patch">()
    expectTypeOf<Effect.Services<ReturnType<Made["open"]>>>().toEqualTypeOf<Rules | Scope.Scope>()
    const alone = () =>
      Agent.make({
        instructions: "",
        model: Agent.offline(),
        machine: Agent.machine({ cwd: "/work" }),
      })
    expectTypeOf<Asked<ReturnType<typeof alone>>>().toEqualTypeOf<Agent.MachineQuestion>()
    const tested = () =>
      Agent.test({ machine: Agent.machine({ cwd: "/work" }), tools: [greet], script: [] }).agent
    expectTypeOf<Asked<ReturnType<typeof tested>>["tool"]>().toEqualTypeOf<
      "greet" | "shell" | "apply_patch"
    >()
  })

  it("tests need no annotations", () => {
    const test = Agent.test({
      tools: [refund],
      script: ({ input, tools }, index) => {
        expectTypeOf(index).toEqualTypeOf<number>()
        expectTypeOf(input.length + tools.length).toEqualTypeOf<number>()
        return index === 0 ? Agent.calls("refund", {}) : ["done", Agent.uses(5)]
      },
    })
    expectTypeOf(test.sent).returns.toExtend<{ readonly outputs: ReadonlyArray<string> }>()
    expectTypeOf(test.events()[0]?.msg).toEqualTypeOf<EventMsg | undefined>()
    expectTypeOf(test.open).returns.toExtend<
      Effect.Effect<unknown, unknown, Shop | Rules | Scope.Scope>
    >()
    const program = Effect.succeed({ sold: 1 })
    const report = Agent.simulate(Agent.seeds(3), program, {
      sold: (log, { events, value }) => {
        expectTypeOf(value).toEqualTypeOf<{ sold: number } | undefined>()
        expectTypeOf(log[0]?.seq).toEqualTypeOf<number | undefined>()
        return events.map(({ conversationId }) => conversationId)
      },
    })
    expectTypeOf(report).toEqualTypeOf<
      Effect.Effect<Agent.SimulationReport, Agent.SimulationFailed>
    >()
    expectTypeOf(Agent.settle(program)).toEqualTypeOf<typeof program>()
    // @ts-expect-error a law returns texts
    const wrong = () => Agent.simulate(1, program, { sold: () => true })
    expectTypeOf(wrong).toBeFunction()
  })

  it("unknown options are errors", () => {
    const wrong = () => [
      // @ts-expect-error `tols` does not exist
      Agent.make({ instructions: "", model: Agent.offline(), tols: [refund] }),
      // @ts-expect-error `aprove` does not exist
      Agent.tool("a", { aprove: true, run: () => Effect.void }),
      // @ts-expect-error `apikey` does not exist
      Agent.openai("gpt-5", { apikey: "" }),
      // @ts-expect-error `netwrok` does not exist
      Agent.machine({ cwd: "/", netwrok: true }),
      // @ts-expect-error `workspace` is no sandbox
      Agent.machine({ cwd: "/", sandbox: "workspace" }),
      // @ts-expect-error the directory is missing
      Agent.machine({}),
      // @ts-expect-error it was not made by Agent.machine
      Agent.make({ instructions: "", model: Agent.offline(), machine: { cwd: "/" } }),
      // @ts-expect-error `strict` does not exist
      (chat: Agent.Chat) => chat.ask("", { strict: true }),
      // @ts-expect-error the input is not what the schema says
      Agent.tool("b", { input: { a: Schema.String }, run: ({ b }) => Effect.succeed(b) }),
      // @ts-expect-error a promise is no Effect
      Agent.tool("d", { run: () => Promise.resolve(1) }),
      // @ts-expect-error a promise is no decision
      Agent.tool("e", { approve: () => Promise.resolve(true), run: () => Effect.void }),
      // @ts-expect-error a promise is no decision
      (chat: Agent.Chat) => chat.ask("", { onApproval: () => Promise.resolve(true) }),
      // @ts-expect-error `contnue` is no value of `onRestart`
      Agent.make({ instructions: "", model: Agent.offline(), onRestart: "contnue" }),
      // @ts-expect-error the result is not what the schema says
      Agent.tool("c", { output: Schema.String, run: () => Effect.succeed(1) }),
    ]
    expectTypeOf(wrong).toBeFunction()
  })
})
