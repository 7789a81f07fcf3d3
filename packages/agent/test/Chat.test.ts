import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Agent } from "../src/testing/index.ts"

const agentOf = (...script: ReadonlyArray<Agent.ScriptedResponse>) => {
  const model = Agent.scripted(script)
  return { model, agent: Agent.make({ instructions: "Be brief.", model }) }
}

const usersOf = (model: Agent.ScriptedModel, index: number) =>
  (model.requests[index]?.input ?? []).flatMap((item) =>
    item.type === "message" && item.role === "user"
      ? item.content.flatMap((part) => (part.type === "input_text" ? [part.text] : []))
      : [],
  )

describe("open", () => {
  it("each name is a conversation of its own, also where it is no well-formed text", () => {
    const names = ["\ud800", "\ud801", "\ufffd", "\ud800\ud800", "a\ud800", "a"]
    const ids = new Set(names.map((name) => Agent.conversationIdOf(name)))
    assert.strictEqual(ids.size, names.length)
  })

  it.effect("a name is the same conversation later, with its history", () =>
    Effect.gen(function* () {
      const { agent, model } = agentOf("one", "two")
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const chat = yield* agent.open("user-17/orders")
          yield* chat.ask("a").result
          assert.isFalse(chat.isResumed)
          return chat.id
        }),
      )
      const chat = yield* agent.open("user-17/orders")
      assert.isTrue(chat.isResumed)
      assert.strictEqual(chat.id, first)
      yield* chat.ask("b").result
      assert.deepStrictEqual(usersOf(model, 1), ["a", "b"])
    }),
  )

  it.effect("a resumed conversation gets the instructions that its agent has now", () =>
    Effect.gen(function* () {
      const store = Agent.memory()
      const model = Agent.scripted(["one", "two"])
      const before = Agent.make({ instructions: "old", model, store })
      const after = Agent.make({ instructions: "new", model, store })
      yield* Effect.scoped(Effect.flatMap(before.open("a"), (chat) => chat.ask("a").result))
      yield* Effect.scoped(Effect.flatMap(after.open("a"), (chat) => chat.ask("b").result))
      assert.deepStrictEqual(
        model.requests.map(({ instructions }) => instructions),
        ["old", "new"],
      )
    }),
  )

  it.effect("two chats of one conversation share it, and their turns run one after the other", () =>
    Effect.gen(function* () {
      const { agent, model } = agentOf("one", "two")
      const [a, b] = [yield* agent.open("x"), yield* agent.open("x")]
      const results = yield* Effect.all([a.ask("a").result, b.ask("b").result], {
        concurrency: "unbounded",
      })
      assert.deepStrictEqual(results.map(({ text }) => text).toSorted(), ["one", "two"])
      assert.lengthOf(usersOf(model, 1), 2)
    }),
  )

  it.effect("the id of a name is a UUID of its SHA-256, and the id itself is a name", () =>
    Effect.gen(function* () {
      const { agent } = agentOf()
      const chat = yield* agent.open("abc")
      // The first bytes of SHA-256("abc"), FIPS 180-4, with the bits of version and variant.
      assert.strictEqual(chat.id, "ba7816bf-8f01-8fea-8141-40de5dae2223")
      const same = yield* agent.open(chat.id)
      assert.strictEqual(same.id, chat.id)
    }),
  )

  it.effect("a chat that is used after its scope has closed fails", () =>
    Effect.gen(function* () {
      const { agent } = agentOf("one")
      const chat = yield* Effect.scoped(agent.open())
      assert.strictEqual((yield* Effect.flip(chat.ask("a").result))._tag, "ChatClosed")
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(chat.ask("a"))))._tag, "ChatClosed")
      assert.strictEqual((yield* Effect.flip(chat.child()))._tag, "ChatClosed")
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(chat.events())))._tag, "ChatClosed")
    }),
  )

  it.effect("closing the scope ends the turn", () =>
    Effect.gen(function* () {
      const { agent } = agentOf([Agent.pauses("1 hour"), "late"])
      const turn = yield* Effect.scoped(Effect.flatMap(agent.open(), (chat) => chat.ask("a").start))
      assert.strictEqual((yield* Effect.flip(turn.result))._tag, "ChatClosed")
    }),
  )

  it.effect("unknown options are refused with the nearest name", () =>
    Effect.gen(function* () {
      const { agent } = agentOf("one")
      const chat = yield* agent.open()
      const misspelt = { onAproval: () => true }
      const exit = yield* Effect.exit(chat.ask("a", misspelt as {}).result)
      assert.include(String(exit), "did you mean `onApproval`?")
      assert.throws(
        () => Agent.make({ instructions: "", model: Agent.offline(), tols: [] } as never),
        "did you mean `tools`?",
      )
      assert.throws(() => Agent.openai("gpt-5", { apiKeys: "" } as {}), "did you mean `apiKey`?")
    }),
  )
})

describe("bad options", () => {
  it("names, inputs and budgets that cannot be meant are refused", () => {
    const run = () => Effect.void
    assert.throws(() => Agent.tool("re fund", { run }), "Agent.tool name: expected 1 to 64")
    assert.throws(() => Agent.tool("a", { input: Schema.String, run }), "a schema of string")
    const twice = [Agent.tool("a", { run }), Agent.tool("a", { run })]
    const model = Agent.offline()
    assert.throws(() => Agent.make({ instructions: "", model, tools: twice }), "`a` twice")
    assert.throws(
      () => Agent.make({ instructions: "", model, budget: { tokens: -1 } }),
      "Agent.make budget.tokens: expected a number from 0 on, got -1",
    )
  })
})

describe("ask", () => {
  it.effect("a caller that waits for an earlier turn can be interrupted", () =>
    Effect.gen(function* () {
      const model = Agent.scripted([[Agent.pauses("1 hour"), "late"]])
      const chat = yield* Agent.make({ instructions: "", model }).open()
      const first = yield* chat.ask("a").start
      const second = yield* Effect.forkChild(chat.ask("b").result, { startImmediately: true })
      yield* Fiber.interrupt(second)
      yield* first.interrupt
      assert.strictEqual((yield* Effect.flip(first.result))._tag, "TurnInterrupted")
      assert.isAtMost(model.requests.length, 1)
    }),
  )

  it.effect("an interrupted turn is a typed error, and the conversation lives", () =>
    Effect.gen(function* () {
      const model = Agent.scripted(({ input }) =>
        JSON.stringify(input.at(-1)).includes("next") ? "here" : [Agent.pauses("1 hour"), "late"],
      )
      const chat = yield* Agent.make({ instructions: "", model }).open()
      const turn = yield* chat.ask("a").start
      yield* turn.interrupt
      const error = yield* Effect.flip(turn.result)
      assert.strictEqual(error._tag, "TurnInterrupted")
      const types = yield* turn.events.pipe(
        Stream.map(({ type }) => type),
        Stream.runCollect,
      )
      assert.strictEqual(types.at(-1), "turn_aborted")
      assert.strictEqual((yield* chat.ask("next").result).text, "here")
    }),
  )

  it.effect("interrupting the stream interrupts the turn", () =>
    Effect.gen(function* () {
      const { agent } = agentOf([Agent.pauses("1 hour"), "late"])
      const chat = yield* agent.open()
      const begun = yield* Deferred.make<void>()
      const fiber = yield* chat.ask("a").pipe(
        Stream.runForEach(() => Deferred.succeed(begun, undefined)),
        Effect.forkChild,
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      const last = yield* chat.events({ from: 0 }).pipe(
        Stream.filter(({ msg }) => msg.type === "turn_aborted"),
        Stream.runHead,
      )
      assert.isTrue(last._tag === "Some")
    }),
  )

  it.effect("a failed turn fails the stream after its events", () =>
    Effect.gen(function* () {
      const { agent } = agentOf(Agent.fails("no such model"))
      const chat = yield* agent.open()
      const types: Array<string> = []
      const error = yield* chat.ask("a").pipe(
        Stream.runForEach(({ type }) => Effect.sync(() => types.push(type))),
        Effect.flip,
      )
      assert.strictEqual(error._tag, "TurnFailed")
      assert.strictEqual(error.message, "no such model")
      assert.strictEqual(types.at(-1), "task_complete")
    }),
  )
})

const Verdict = Schema.Struct({ ok: Schema.Boolean, reason: Schema.String })

describe("structured answers", () => {
  it.effect("the value has the type of the schema, in a code fence too", () =>
    Effect.gen(function* () {
      const { agent, model } = agentOf('```json\n{"ok":true,"reason":"fine"}\n```')
      const chat = yield* agent.open()
      const { value } = yield* chat.ask("judge", { schema: Verdict }).result
      assert.strictEqual(value.reason, "fine")
      assert.include(usersOf(model, 0)[1], '"reason"')
    }),
  )

  it.effect("a mismatch is asked for once more with what is wrong", () =>
    Effect.gen(function* () {
      const { agent, model } = agentOf('{"ok":"yes","reason":""}', '{"ok":true,"reason":"now"}')
      const chat = yield* agent.open()
      const ask = chat.ask("judge", { schema: Verdict })
      const turn = yield* ask.start
      assert.deepStrictEqual((yield* turn.result).value, { ok: true, reason: "now" })
      assert.include(usersOf(model, 1).at(-1), '["ok"]')
      const ends = yield* turn.events.pipe(
        Stream.filter(({ type }) => type === "task_complete"),
        Stream.runCollect,
      )
      assert.lengthOf(ends, 2)
    }),
  )

  it.effect("a second mismatch is a typed error, and the conversation lives", () =>
    Effect.gen(function* () {
      const { agent } = agentOf("I think so", "Sure", "hello")
      const chat = yield* agent.open()
      const error = yield* Effect.flip(chat.ask("judge", { schema: Verdict }).result)
      assert.strictEqual(error._tag, "AnswerMismatch")
      assert.strictEqual((yield* chat.ask("hi").result).text, "hello")
    }),
  )
})

describe("budgets", () => {
  it.effect("tokens: the turn that exceeds them fails, and later ones are refused", () =>
    Effect.gen(function* () {
      const { agent } = agentOf(["one", Agent.uses(60)], ["two", Agent.uses(60)], "three")
      const chat = yield* agent.open("a", { budget: { tokens: 100 } })
      yield* chat.ask("a").result
      const error = yield* Effect.flip(chat.ask("b").result)
      assert.deepInclude(error, { _tag: "BudgetExceeded", budget: "tokens", limit: 100, used: 120 })
      const refused = yield* Effect.flip(chat.ask("c").result)
      assert.deepInclude(refused, { _tag: "BudgetExceeded", of: "chat" })
    }),
  )

  it.effect("turns: the second attempt at an answer counts", () =>
    Effect.gen(function* () {
      const { agent } = agentOf("no", "no")
      const chat = yield* agent.open()
      const error = yield* Effect.flip(
        chat.ask("a", { schema: Verdict, budget: { turns: 1 } }).result,
      )
      assert.deepInclude(error, { _tag: "BudgetExceeded", budget: "turns", of: "ask", limit: 1 })
    }),
  )

  it.effect("time: the turn is interrupted on the clock", () =>
    Effect.gen(function* () {
      const { agent } = agentOf([Agent.pauses("1 hour"), "late"])
      const chat = yield* agent.open()
      const fiber = yield* Effect.forkChild(
        Effect.flip(chat.ask("a", { budget: { time: "5 seconds" } }).result),
        { startImmediately: true },
      )
      yield* TestClock.adjust("5 seconds")
      const error = yield* Fiber.join(fiber)
      assert.deepInclude(error, { _tag: "BudgetExceeded", budget: "time", limit: 5000, used: 5000 })
    }),
  )

  it.effect("time passes while an earlier turn runs, and the ask does not wait longer for it", () =>
    Effect.gen(function* () {
      const { agent, model } = agentOf([Agent.pauses("1 hour"), "late"], "next")
      const chat = yield* agent.open()
      const first = yield* chat.ask("a").start
      const second = yield* Effect.forkChild(
        Effect.flip(chat.ask("b", { budget: { time: "5 seconds" } }).result),
        { startImmediately: true },
      )
      yield* TestClock.adjust("5 seconds")
      const error = yield* Fiber.join(second)
      assert.deepInclude(error, { _tag: "BudgetExceeded", budget: "time", of: "ask", used: 5000 })
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* first.result).text, "late")
      assert.lengthOf(model.requests, 1)
      assert.strictEqual((yield* chat.ask("c").result).text, "next")
    }),
  )

  it.effect("children spend the budget of their parent, and it ends all their turns", () =>
    Effect.gen(function* () {
      const model = Agent.scripted((_, index) =>
        index === 0 ? [Agent.pauses("1 hour"), "late"] : ["ok", Agent.uses(200)],
      )
      const agent = Agent.make({ instructions: "", model, budget: { tokens: 100 } })
      const chat = yield* agent.open()
      const slow = yield* chat.child()
      const turn = yield* slow.ask("a").start
      const greedy = yield* chat.child({ name: "greedy", instructions: "Eat." })
      assert.strictEqual((yield* Effect.flip(greedy.ask("b").result))._tag, "BudgetExceeded")
      assert.strictEqual((yield* Effect.flip(turn.result))._tag, "BudgetExceeded")
      assert.strictEqual(model.requests[1]?.instructions, "Eat.")
    }),
  )
})

describe("children", () => {
  it.effect("a child inherits tools and policy, and closes with its parent", () =>
    Effect.gen(function* () {
      const model = Agent.scripted([Agent.calls("act"), "done"])
      const act = Agent.tool("act", { approve: true, run: () => Effect.succeed("acted") })
      const agent = Agent.make({ instructions: "", model, tools: [act] })
      const child = yield* Effect.scoped(
        Effect.gen(function* () {
          const chat = yield* agent.open("p", { onApproval: () => true })
          const child = yield* chat.child({ name: "c" })
          yield* child.ask("go").result
          return child
        }),
      )
      const outputs = model.requests[1]?.input.filter(
        (item) => item.type === "function_call_output" && item.output === "acted",
      )
      assert.lengthOf(outputs ?? [], 1)
      assert.strictEqual((yield* Effect.flip(child.ask("x").result))._tag, "ChatClosed")
    }),
  )
})
