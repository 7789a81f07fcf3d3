import type { Verdict } from "@colloquy/core/approvals/Approval"
import { assert, describe, it } from "@effect/vitest"
import * as AiTool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fromToolkit } from "../../src/host/HostTools.ts"
import type { Tool } from "../../src/Tool.ts"
import { approved, callOf, watched } from "../support/Context.ts"

const denied: Verdict = { decision: "denied", reason: "answered" }

const named = (tools: ReadonlyArray<Tool>, name: string) =>
  Effect.orDie(Effect.fromNullishOr(tools.find((tool) => tool.name === name)))

const amounts: Array<number> = []
const Amount = Schema.Struct({ amount: Schema.FiniteFromString })
const pay = <Name extends string>(name: Name) =>
  AiTool.make(name, { parameters: Amount, success: Schema.String })
const asking = Toolkit.make(
  pay("always").setNeedsApproval(true),
  pay("never").setNeedsApproval(false).annotate(AiTool.Readonly, true),
  // The predicate holds for the decoded number; it would not hold for the text that was sent.
  pay("large").setNeedsApproval(({ amount }) => Number.isInteger(amount) && amount > 100),
  pay("checked").setNeedsApproval(({ amount }) => Effect.succeed(amount > 100)),
  pay("broken").setNeedsApproval(() => Effect.die("the rule is broken")),
  pay("reading").annotate(AiTool.Readonly, true),
  pay("open"),
)
const paid = ({ amount }: typeof Amount.Type) =>
  Effect.sync(() => {
    amounts.push(amount)
    return `paid ${amount}`
  })
const askingTools = fromToolkit(asking).pipe(
  Effect.provide(
    asking.toLayer({
      always: paid,
      never: paid,
      large: paid,
      checked: paid,
      broken: paid,
      reading: paid,
      open: paid,
    }),
  ),
)

describe("HostTools that ask", () => {
  const approvals: ReadonlyArray<readonly [string, string, boolean]> = [
    ["always", "1", true],
    ["never", "1000", false],
    ["large", "1000", true],
    ["large", "10", false],
    ["checked", "1000", true],
    ["checked", "10", false],
    ["broken", "1", true],
    ["reading", "1000", false],
    ["open", "1000", false],
  ]
  for (const [name, amount, isAsked] of approvals) {
    for (const verdict of [approved, denied]) {
      it.effect(`${name} of ${amount}, ${verdict.decision}: ${isAsked ? "asked" : "unasked"}`, () =>
        Effect.gen(function* () {
          amounts.length = 0
          const { asked, context } = watched({}, { verdict })
          const tool = yield* named(yield* askingTools, name)
          const { output } = yield* tool.run(callOf(name, { amount }), context)
          const question = {
            _tag: "Tool",
            callId: "c",
            tool: name,
            arguments: { amount },
          } as const
          assert.deepStrictEqual(asked, isAsked ? [question] : [])
          const isRun = !isAsked || verdict === approved
          assert.deepStrictEqual(amounts, isRun ? [Number(amount)] : [])
          assert.strictEqual(output, isRun ? `paid ${amount}` : "tool call rejected by user")
        }),
      )
    }
  }

  it.effect("a call that is not approved begins nothing", () =>
    Effect.gen(function* () {
      const { context, events } = watched({}, { verdict: denied })
      const tool = yield* named(yield* askingTools, "always")
      yield* tool.run(callOf("always", { amount: "1" }), context)
      assert.deepStrictEqual(events, [])
    }),
  )

  it.effect("only tools that only read and need no approval run concurrently with others", () =>
    Effect.gen(function* () {
      const { settings } = watched().context
      const reading = (yield* askingTools).flatMap(({ isReadOnly, name }) =>
        isReadOnly(callOf(name, {}), settings) ? [name] : [],
      )
      assert.deepStrictEqual(reading, ["never", "reading"])
    }),
  )
})
