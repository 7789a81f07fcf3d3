import type { PlanItem } from "@colloquy/protocol/events/ToolEvents"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { planTool } from "../../src/plan/PlanTool.ts"
import { callOf, watched } from "../support/Context.ts"

describe("update_plan", () => {
  it.effect("sends the plan as in packages/server/test/fixtures/v0.29.0/update_plan.jsonl", () =>
    Effect.gen(function* () {
      const { context, events } = watched()
      const plan: ReadonlyArray<PlanItem> = [
        { step: "one", status: "completed" },
        { step: "two", status: "in_progress" },
        { step: "three", status: "pending" },
      ]
      const result = yield* planTool.run(
        callOf("update_plan", { explanation: "why", plan }),
        context,
      )
      assert.deepStrictEqual(result, { output: "Plan updated" })
      assert.deepStrictEqual(events, [{ type: "plan_update", explanation: "why", plan }])
    }),
  )

  it.effect.each([
    [
      "{not json",
      'failed to parse function arguments: expected the JSON text of an object, got "{not json"',
    ],
    [
      { plan: "one" },
      'failed to parse function arguments: invalid type: string "one", expected a sequence (field `plan`)',
    ],
    [{}, "failed to parse function arguments: missing field `plan` (expected a sequence)"],
    [
      { plan: [], explanaton: "x" },
      "failed to parse function arguments: unknown field `explanaton`, did you mean `explanation`?",
    ],
  ] as const)("reports what is wrong with %j and shows nothing", ([args, output]) =>
    Effect.gen(function* () {
      const { context, events } = watched()
      const result = yield* planTool.run(callOf("update_plan", args), context)
      assert.deepStrictEqual(result, { output, isRefused: true })
      assert.deepStrictEqual(events, [])
    }),
  )

  it("is offered when the settings include it", () => {
    const { context } = watched()
    assert.isUndefined(planTool.spec(context.settings))
    assert.strictEqual(
      planTool.spec({ ...context.settings, includePlanTool: true })?.type,
      "function",
    )
  })
})
