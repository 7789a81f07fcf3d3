/** `update_plan`: sends the model's plan to the listeners, as an event; nothing else happens. */
import { PlanItem } from "@colloquy/protocol/events/ToolEvents"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { functionTool, type Tool, toolArguments } from "../Tool.ts"

const planArguments = toolArguments(
  Schema.Struct({
    explanation: Schema.optionalKey(
      Schema.NullOr(Schema.String).annotate({
        description: "Why the plan changed, in a sentence or two.",
      }),
    ),
    plan: Schema.Array(PlanItem).annotate({
      description: "Every step, in order, with its status. At most one is in progress.",
    }),
  }),
)

/** The tool `update_plan`. */
export const planTool: Tool = functionTool({
  name: "update_plan",
  description:
    "Shows your plan to the person you work for. Give all steps each time, not only what changed: what you leave out is gone. Use it for work of several steps, and again whenever one is begun or done.",
  arguments: planArguments,
  isOffered: (settings) => settings.includePlanTool,
  run: ({ explanation, plan }, _callId, { emit }) =>
    Effect.as(emit({ type: "plan_update", explanation: explanation ?? null, plan }), {
      output: "Plan updated",
    }),
})
