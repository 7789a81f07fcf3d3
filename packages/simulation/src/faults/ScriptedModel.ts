/** The scripted model and tools of a simulated run: they follow its plan, faults included, and tell the trace. */
import { ModelClient, ModelError, type ModelEvent } from "@colloquy/core/ModelClient"
import { type ToolCall, type ToolContext, ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type ModelEnd, modelPlanOf, type Plan } from "../scenario/Plan.ts"
import type { Recorder } from "../trace/Recorder.ts"

/** A stubborn tool takes so long to stop, longer than every bound. */
const stubbornMs = 10_000

/** What dies dies of this. */
class Injected extends Data.TaggedError("Injected")<{ readonly message: string }> {}

const injected = (what: string) => new Injected({ message: `injected: ${what}` })

const pieces = (text: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${text}${i}.`)

const assistant = (text: string): ResponseItem => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
})

const reasoning = (text: string): ResponseItem => ({
  type: "reasoning",
  summary: [{ type: "summary_text", text }],
  encrypted_content: null,
})

/** Each request's texts hold its name, so no two responses say the same. */
export const scriptedModel = (
  plan: Pick<Plan, "model">,
  recorder: Recorder,
): ModelClient["Service"] => {
  const requests = new Map<string, number>()
  return {
    stream: ({ conversationId }) => {
      const request = requests.get(conversationId) ?? 0
      requests.set(conversationId, request + 1)
      const slot = recorder.slotOf(conversationId)
      const script = modelPlanOf(plan, slot, request)
      const name = `m${recorder.ordinalOf(conversationId)}-${request}:`
      const wait = Effect.sleep(Duration.millis(script.pieceMs))
      const says = (text: string, item: ResponseItem): Effect.Effect<ModelEvent> =>
        Effect.as(recorder.record({ at: "says", conversation: conversationId, text }), {
          _tag: "ItemDone",
          item,
        })
      const texts = pieces(name, script.pieces)
      const thoughts = pieces(`${name}r`, script.reasoning)
      const whole = script.end === "completed" || script.end === "hang"
      const steps: ReadonlyArray<Effect.Effect<ModelEvent, ModelError>> = [
        ...thoughts.map((delta) => Effect.as(wait, { _tag: "ReasoningDelta", delta } as const)),
        ...(thoughts.length > 0 && whole
          ? [says(thoughts.join(""), reasoning(thoughts.join("")))]
          : []),
        ...texts.map((delta) => Effect.as(wait, { _tag: "TextDelta", delta } as const)),
        ...(texts.length > 0 && whole ? [says(texts.join(""), assistant(texts.join("")))] : []),
        ...script.calls.map((tool, i) =>
          Effect.succeed<ModelEvent>({
            _tag: "ItemDone",
            item: { type: "function_call", name: tool, arguments: "{}", call_id: `${name}${i}` },
          }),
        ),
        ending(script.end),
      ]
      const told = (does: "begins" | "ends") =>
        recorder.record({ at: "model", conversation: conversationId, request, does })
      return Stream.unwrap(
        Effect.as(
          Effect.acquireRelease(told("begins"), () => told("ends")),
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
      return Effect.die(injected("the model dies"))
  }
}

/** A tool does what its name says. */
export const scriptedTools = (recorder: Recorder): ToolRuntime["Service"] =>
  ToolRuntime.simple({
    specs: () => [],
    run: (call, context) => {
      const told = (does: "begins" | "ends") =>
        recorder.record({
          at: "tool",
          conversation: context.conversationId,
          turn: context.turnId,
          call: call.call_id ?? "",
          does,
        })
      return Effect.acquireUseRelease(
        told("begins"),
        () =>
          call.type !== "local_shell_call" && call.name === "asks"
            ? asks(recorder, call.call_id, context)
            : toolBody(call, (message) => context.emit({ type: "background_event", message })),
        () => told("ends"),
      )
    },
  })

/** All ask the same, so that what a session approved counts for the next one. */
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
  tell: (message: string) => Effect.Effect<void>,
): Effect.Effect<string> => {
  switch (call.type === "local_shell_call" ? "ok" : call.name) {
    case "slow":
      return Effect.as(Effect.sleep("700 millis"), "slow")
    case "tells":
      return Effect.andThen(tell("one"), Effect.as(tell("two"), "told"))
    case "hang":
      return Effect.never
    case "defect":
      return Effect.die(injected("a tool dies"))
    case "stubborn":
      return Effect.onInterrupt(Effect.never, () =>
        Effect.andThen(Effect.sleep(Duration.millis(stubbornMs)), tell("too late")),
      )
    default:
      return Effect.succeed("done")
  }
}
