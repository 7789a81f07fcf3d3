/**
 * The tool calls of one response: those that only read run beside each other, any other waits for all before it and
 * runs alone. Outputs are recorded in the order of the calls, whichever was first done.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { outputFor } from "../log/History.ts"
import type { ReplayClass } from "../LogRecord.ts"
import type { ToolCall, ToolResult, TurnTools } from "../ToolRuntime.ts"
import type { CallStart, TurnPort } from "./TurnPort.ts"

/** Reads at the same time: a response with a hundred of them must not start a hundred processes. */
const maxParallel = 8

export interface ToolCalls {
  /**
   * Runs the call, to its end unless it only reads; its output is told then, or with the next one's. Nothing runs before it
   * is recorded, nor when the turn is over. `attempt` counts from 1, the default. `eventCallId` is the id in events of a
   * call whose question is open already.
   */
  readonly start: (call: ToolCall, attempt?: number, eventCallId?: string) => Effect.Effect<void>
  /** Waits for the calls that still run; gives what is left to be told: outputs, then images the calls attached. */
  readonly finish: Effect.Effect<ReadonlyArray<EventMsg>>
}

/** A tool that dies is a fault of ours: the model is told, the turn goes on. */
const resultOf = (tools: TurnTools, call: ToolCall): Effect.Effect<ToolResult> =>
  Effect.suspend(() => tools.run(call)).pipe(
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("a tool died", defect), {
        output: "execution error: the tool failed with an internal error",
      }),
    ),
  )

const recorded = (call: ToolCall, { output }: ToolResult): EventMsg => ({
  type: "raw_response_item",
  item: outputFor(call, output),
})

const attached = (images: ReadonlyArray<string>): EventMsg => ({
  type: "raw_response_item",
  item: {
    type: "message",
    role: "user",
    content: images.map((image_url) => ({ type: "input_image", image_url })),
  },
})

const replayOf = (tools: TurnTools, call: ToolCall): ReplayClass =>
  tools.replayOf?.(call) ?? (tools.isReadOnly(call) ? "safe" : "ask")

/** What is recorded of a call that is about to run. */
const beginning = (
  tools: TurnTools,
  call: ToolCall,
  attempt: number,
  eventCallId: string,
): CallStart => ({
  callId: call.call_id ?? "",
  ...(eventCallId === call.call_id ? {} : { eventCallId }),
  name: call.type === "local_shell_call" ? "local_shell" : call.name,
  replay: replayOf(tools, call),
  attempt,
})

/** What runs ends with the scope. */
export const make = (
  tools: TurnTools,
  port: Pick<TurnPort, "recordCall" | "emit" | "eventCallId">,
): Effect.Effect<ToolCalls, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const permits = Semaphore.makeUnsafe(maxParallel)
    let reads: Array<{ readonly call: ToolCall; readonly fiber: Fiber.Fiber<ToolResult> }> = []
    let images: Array<string> = []

    const keep = (call: ToolCall, result: ToolResult): EventMsg => {
      images.push(...(result.images ?? []))
      return recorded(call, result)
    }
    const joinAll = Effect.suspend(() => {
      const started = reads
      reads = []
      return Effect.forEach(started, ({ call, fiber }) =>
        Effect.map(Fiber.join(fiber), (result) => keep(call, result)),
      )
    })

    const start: ToolCalls["start"] = Effect.fnUntraced(function* (call, attempt = 1, known) {
      const isReadOnly = tools.isReadOnly(call)
      if (!isReadOnly) {
        const before = yield* joinAll
        if (before.length > 0) yield* port.emit(before)
      }
      const id = known ?? port.eventCallId(call.call_id ?? "")
      if (!(yield* port.recordCall(beginning(tools, call, attempt, id)))) return
      // The tool names its events by it; the output is recorded under the provider's id.
      const running = resultOf(tools, id === call.call_id ? call : { ...call, call_id: id })
      if (isReadOnly) {
        const fiber = yield* Effect.forkIn(permits.withPermits(1)(running), scope)
        reads.push({ call, fiber })
      } else {
        yield* port.emit([keep(call, yield* running)])
      }
    })

    const finish = Effect.map(joinAll, (outputs) => {
      const shown = images
      images = []
      return shown.length === 0 ? outputs : [...outputs, attached(shown)]
    })

    return { start, finish }
  })
