/** The scripted model and tools of a simulated run: they follow its plan, including its faults, and record in the trace what they do. */
import { ModelClient, ModelError, type ModelEvent } from "@colloquy/core/ModelClient"
import { type ToolCall, type ToolContext, ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type ModelEnd, type ModelPlan, modelPlanOf, type Plan } from "../scenario/Plan.ts"
import type { Recorder } from "../trace/Recorder.ts"

/** Time that a stubborn tool takes to stop; longer than every bound. */
const stubbornMs = 10_000

/** The defect of a planned failure. */
class Injected extends Data.TaggedError("Injected")<{ readonly message: string }> {}

const injected = (what: string) => new Injected({ message: `injected: ${what}` })

const pieces = (text: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${text}${i}.`)

const assistant = (text: string): ResponseItem => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
})

/** How reasoning is streamed, and recorded when it is whole. */
interface Reasoning {
  readonly events: ReadonlyArray<ModelEvent>
  readonly item: ResponseItem
}

/** One section of a summary. */
const oneSection = (thoughts: ReadonlyArray<string>): Reasoning => ({
  events: thoughts.map((delta) => ({ _tag: "ReasoningDelta", delta })),
  item: {
    type: "reasoning",
    summary: [{ type: "summary_text", text: thoughts.join("") }],
    encrypted_content: null,
  },
})

/** Raw reasoning, then sections of a summary, one for each further thought. */
const manySections = ([raw = "", ...thoughts]: ReadonlyArray<string>): Reasoning => ({
  events: [
    { _tag: "RawReasoningDelta", delta: raw },
    ...thoughts.flatMap((delta): ReadonlyArray<ModelEvent> => [
      { _tag: "ReasoningSectionBreak" },
      { _tag: "ReasoningDelta", delta },
    ]),
  ],
  item: {
    type: "reasoning",
    summary: thoughts.map((text) => ({ type: "summary_text", text })),
    content: [{ type: "reasoning_text", text: raw }],
    encrypted_content: null,
  },
})

type Step = Effect.Effect<ModelEvent, ModelError>

/**
 * The events of one response, in order.
 *
 * @param reasoningOf how reasoning with these pieces is streamed
 * @param finished records the text of a completed item and yields its event
 */
const stepsOf = (
  script: ModelPlan,
  name: string,
  reasoningOf: typeof oneSection,
  finished: (text: string, item: ResponseItem) => Step,
): ReadonlyArray<Step> => {
  const wait = Effect.sleep(Duration.millis(script.pieceMs))
  const texts = pieces(name, script.pieces)
  const thoughts = pieces(`${name}r`, script.reasoning)
  const isWhole = script.end === "completed" || script.end === "hang"
  const whole = (parts: ReadonlyArray<string>, item: ResponseItem) =>
    parts.length > 0 && isWhole ? [finished(parts.join(""), item)] : []
  const reasoning = reasoningOf(thoughts)
  const streamed = thoughts.length > 0 ? reasoning.events : []
  return [
    ...streamed.map((event) => Effect.as(wait, event)),
    ...whole(thoughts, reasoning.item),
    ...texts.map((delta) => Effect.as(wait, { _tag: "TextDelta", delta } as const)),
    ...whole(texts, assistant(texts.join(""))),
    ...script.calls.map((tool, i) =>
      Effect.succeed<ModelEvent>({
        _tag: "ItemDone",
        item: { type: "function_call", name: tool, arguments: "{}", call_id: `${name}${i}` },
      }),
    ),
    ending(script.end),
  ]
}

/**
 * A model that responds as planned. Each request's texts hold its name, so no two responses are equal.
 *
 * @param hasSections true: reasoning is raw, then a summary of several sections; default: a summary of one section
 */
export const scriptedModel = (
  plan: Pick<Plan, "model">,
  recorder: Recorder,
  hasSections = false,
): ModelClient["Service"] => {
  const requests = new Map<string, number>()
  return {
    stream: ({ conversationId }) => {
      const request = requests.get(conversationId) ?? 0
      requests.set(conversationId, request + 1)
      const slot = recorder.slotOf(conversationId)
      const script = modelPlanOf(plan, slot, request)
      const name = `m${recorder.ordinalOf(conversationId)}-${request}:`
      const finished = (text: string, item: ResponseItem): Effect.Effect<ModelEvent> =>
        Effect.as(recorder.record({ at: "says", conversation: conversationId, text }), {
          _tag: "ItemDone",
          item,
        })
      const steps = stepsOf(script, name, hasSections ? manySections : oneSection, finished)
      const recorded = (does: "begins" | "ends") =>
        recorder.record({ at: "model", conversation: conversationId, request, does })
      return Stream.unwrap(
        Effect.as(
          Effect.acquireRelease(recorded("begins"), () => recorded("ends")),
          Stream.flatMap(Stream.fromIterable(steps), Stream.fromEffect),
        ),
      )
    },
  }
}

const ending = (end: ModelEnd) => {
  switch (end) {
    case "completed":
      return Effect.succeed<ModelEvent>({ _tag: "Completed" })
    case "error":
    case "retryable":
    case "overflow":
      return Effect.fail(
        new ModelError({
          reason: end === "overflow" ? "ContextWindow" : "Stream",
          message: `injected: ${end}`,
          retryable: end === "retryable",
        }),
      )
    case "hang":
      return Effect.never
    case "defect":
      return Effect.die(injected("the model fails with a defect"))
  }
}

/** Tools that behave as their names describe; see `ToolPlan`. */
export const scriptedTools = (recorder: Recorder): ToolRuntime["Service"] =>
  ToolRuntime.simple({
    specs: () => [],
    run: (call, context) => {
      const recorded = (does: "begins" | "ends") =>
        recorder.record({
          at: "tool",
          conversation: context.conversationId,
          turn: context.turnId,
          call: call.call_id ?? "",
          does,
        })
      return Effect.acquireUseRelease(
        recorded("begins"),
        () =>
          call.type !== "local_shell_call" && call.name === "asks"
            ? asks(recorder, call.call_id, context)
            : toolBody(call, (message) => context.emit({ type: "background_event", message })),
        () => recorded("ends"),
      )
    },
  })

/** Every call asks the same question, so that an approval for the session applies to the next one. */
const asks = (recorder: Recorder, question: string, context: ToolContext): Effect.Effect<string> =>
  Effect.flatMap(
    context.approve({
      _tag: "Exec",
      callId: question,
      command: ["make"],
      cwd: "/work",
      sandbox: { mode: "read-only" },
    }),
    ({ decision, reason }) =>
      Effect.as(
        recorder.record({
          at: "verdict",
          conversation: context.conversationId,
          question,
          decision,
          reason,
        }),
        decision,
      ),
  )

const toolBody = (
  call: ToolCall,
  emit: (message: string) => Effect.Effect<void>,
): Effect.Effect<string> => {
  switch (call.type === "local_shell_call" ? "ok" : call.name) {
    case "slow":
      return Effect.as(Effect.sleep("700 millis"), "slow")
    case "emits":
      return Effect.andThen(emit("one"), Effect.as(emit("two"), "emitted"))
    case "hang":
      return Effect.never
    case "defect":
      return Effect.die(injected("a tool fails with a defect"))
    case "stubborn":
      return Effect.onInterrupt(Effect.never, () =>
        Effect.andThen(Effect.sleep(Duration.millis(stubbornMs)), emit("too late")),
      )
    default:
      return Effect.succeed("done")
  }
}
