import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Agent } from "../../src/testing/index.ts"
import { matchers } from "../../src/testing/vitest/Matchers.ts"

expect.extend(matchers)

const refund = Agent.tool("refund", {
  input: { order: Schema.String },
  approve: ({ order }) => order === "B2",
  run: ({ order }) => Effect.succeed(`refunded ${order}`),
})

const ran = Effect.gen(function* () {
  const till = Agent.test({
    instructions: "You are a till.",
    tools: [refund],
    script: [
      [Agent.calls("refund", { order: "A1" }), Agent.calls("refund", { order: "B2" })],
      "done",
    ],
  })
  const chat = yield* till.open()
  const messages = yield* Stream.runCollect(chat.ask("refund"))
  return { till, messages }
})

const message = (expectation: () => void): string => {
  try {
    expectation()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return "it passed"
}

describe("matchers for Vitest", () => {
  it.effect("toHaveCalled accepts an agent, its events and the messages of a turn", () =>
    Effect.gen(function* () {
      const { messages, till } = yield* ran
      for (const received of [till, till.events(), messages]) {
        expect(received).toHaveCalled("refund")
        expect(received).toHaveCalled("refund", { order: "A1" })
        expect(received).toHaveCalled("refund", { order: expect.stringMatching(/^A/) })
        // It was denied.
        expect(received).not.toHaveCalled("refund", { order: "B2" })
      }
      expect(message(() => expect(till).toHaveCalled("refund", { order: "C3" }))).toMatch(
        /^expected the tool refund\(.*C3.*\) to have run; these ran:\n {2}refund\(.*A1.*\)$/s,
      )
      expect(message(() => expect(1).toHaveCalled("refund"))).toContain("an agent of Agent.test")
    }),
  )

  it.effect("toEndTurn says how the turn ended", () =>
    Effect.gen(function* () {
      const { messages, till } = yield* ran
      expect(till).toEndTurn()
      expect(messages).toEndTurn("done")
      expect(till).toEndTurn(/^d/)
      expect(message(() => expect(till).toEndTurn("gone"))).toBe(
        'expected the last turn to end with "gone"; it ended with "done"',
      )
      expect(message(() => expect([]).toEndTurn())).toContain("there was no turn")
      const broken = Agent.test({ script: [Agent.fails("no money")] })
      const chat = yield* broken.open()
      yield* Effect.exit(chat.ask("a").result)
      expect(message(() => expect(broken).toEndTurn("done"))).toContain("the error: no money")
      expect(broken).not.toEndTurn()
    }),
  )

  it.effect("toEndTurn means the turn that ended last, of a child or of its parent", () =>
    Effect.gen(function* () {
      const test = Agent.test({ script: ["one", "of the child", "two"] })
      const chat = yield* test.open()
      yield* chat.ask("a").result
      const child = yield* chat.child()
      yield* child.ask("b").result
      expect(test).toEndTurn("of the child")
      yield* chat.ask("c").result
      expect(test).toEndTurn("two")
      // A global expression keeps its place from one use to the next.
      const global = /two/g
      expect(test).toEndTurn(global)
      expect(test).toEndTurn(global)
    }),
  )

  it.effect("a law that throws is broken, and one that returns no texts is refused", () =>
    Effect.gen(function* () {
      const { till } = yield* ran
      const problem = (law: unknown) =>
        message(() => expect(till).toSatisfyLaws({ mine: law as () => [] }))
      const failing = () => {
        throw new Error("too much")
      }
      expect(problem(failing)).toContain("\n  mine: too much")
      expect(problem(() => undefined)).toContain('the result of the law "mine": expected an array')
      expect(problem(5)).toBe("toSatisfyLaws laws mine: expected a function, got 5")
      expect(message(() => expect(till).not.toHaveCalled(refund as never))).toContain(
        "expected the name of a tool",
      )
    }),
  )

  it.effect("toSatisfyLaws checks the shipped laws and one's own", () =>
    Effect.gen(function* () {
      const { till } = yield* ran
      expect(till).toSatisfyLaws()
      expect(till.events().slice(0, -1)).not.toSatisfyLaws()
      const never = { "no refunds": () => ["one was made"] }
      expect(message(() => expect(till).toSatisfyLaws(never))).toBe(
        "expected the laws to be kept; these are broken:\n  no refunds: one was made",
      )
    }),
  )

  it.effect("toHaveBeenSent finds a request", () =>
    Effect.gen(function* () {
      const { till } = yield* ran
      expect(till).toHaveBeenSent({ messages: ["user: refund"], tools: ["refund"] })
      expect(till).toHaveBeenSent({ outputs: expect.arrayContaining(["refunded A1"]) })
      expect(till).not.toHaveBeenSent({ instructions: "You are a shop." })
      expect(message(() => expect(till).toHaveBeenSent({ tools: ["sell"] }))).toMatch(
        /to have been sent .*sell.*; its requests:\n {2}tools: .*refund/s,
      )
      // @ts-expect-error `tool` does not exist
      expect(message(() => expect(till).toHaveBeenSent({ tool: [] }))).toContain(
        "unknown member `tool`",
      )
    }),
  )
})
