/**
 * The tool calls of one response. Read-only calls run in parallel; any other call waits for all calls before it and runs
 * alone. Outputs are recorded in the order of the calls, whichever ends first. Never runs a call that is not recorded.
 */
import { defined } from "@colloquy/protocol/Defined"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { wireDuration } from "@colloquy/protocol/events/WireDuration"
import { parseJson } from "@colloquy/protocol/Json"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { ReplayClass } from "../LogRecord.ts"
import { outputFor } from "../log/History.ts"
import type { ToolCall, ToolResult, TurnTools } from "../ToolRuntime.ts"
import type { CallStart, TurnPort } from "./TurnPort.ts"

/** Most read-only calls at once: a response with a hundred of them must not start a hundred processes. */
const maxParallel = 8

type Port = Pick<TurnPort, "recordCall" | "emit" | "eventCallId">

const nameOf = (call: ToolCall): string =>
  call.type === "local_shell_call" ? "local_shell" : call.name

/** A defect of a tool is a fault of the server: the model gets an output that says so, and the turn continues. */
const resultOf = (tools: TurnTools, call: ToolCall): Effect.Effect<ToolResult> =>
  Effect.suspend(() => tools.run(call)).pipe(
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("tool failed with a defect", defect), {
        output: "execution error: the tool failed with an internal error",
      }),
    ),
  )

const outputEvent = (call: ToolCall, { output }: ToolResult): EventMsg => ({
  type: "raw_response_item",
  item: outputFor(call, output),
})

/** What the model gave the tool: the members of JSON arguments, or the text as it is. */
const argumentsOf = (call: ToolCall): unknown => {
  if (call.type === "local_shell_call") return call.action
  const text = call.type === "function_call" ? call.arguments : call.input
  const members = parseJson(text)
  return Result.isSuccess(members) ? members.success : text
}

/** A call that was refused without an event is reported like one that failed at once. */
const refusal = (call: ToolCall, eventCallId: string, output: string): ReadonlyArray<EventMsg> => {
  const named = { call_id: eventCallId, tool: nameOf(call) }
  return [
    { type: "tool_call_begin", ...named, arguments: argumentsOf(call) },
    { type: "tool_call_end", ...named, duration: wireDuration(0), result: { Err: output } },
  ]
}

/** The images of the calls, as one user message. */
const imagesEvent = (images: ReadonlyArray<string>): EventMsg => ({
  type: "raw_response_item",
  item: {
    type: "message",
    role: "user",
    content: images.map((image_url) => ({ type: "input_image", image_url })),
  },
})

const replayOf = (tools: TurnTools, call: ToolCall): ReplayClass =>
  tools.replayOf?.(call) ?? (tools.isReadOnly(call) ? "safe" : "ask")

/** What is recorded about an attempt to run a call, before it begins. */
export const callStart = (
  tools: TurnTools,
  call: ToolCall,
  attempt: number,
  eventCallId: string,
): CallStart => ({
  callId: call.call_id ?? "",
  ...defined({ eventCallId: eventCallId === call.call_id ? undefined : eventCallId }),
  name: nameOf(call),
  replay: replayOf(tools, call),
  attempt,
})

/** A call with its id in events. */
interface Started {
  readonly call: ToolCall
  readonly eventCallId: string
}

/** The calls of one response. Calls of `start` and `finish` are made one at a time. */
export class ToolCalls {
  private readonly tools: TurnTools
  private readonly port: Port
  private readonly scope: Scope.Scope
  private readonly permits = Semaphore.makeUnsafe(maxParallel)
  /** Read-only calls that were started and whose outputs are not emitted yet. */
  private reads: Array<Started & { readonly fiber: Fiber.Fiber<ToolResult> }> = []
  /** Data URLs of the images that calls attached. */
  private images: Array<string> = []

  private constructor(tools: TurnTools, port: Port, scope: Scope.Scope) {
    this.tools = tools
    this.port = port
    this.scope = scope
  }

  /** Calls that run when the scope closes are interrupted. */
  static readonly make = (
    tools: TurnTools,
    port: Port,
  ): Effect.Effect<ToolCalls, never, Scope.Scope> =>
    Effect.map(Effect.scope, (scope) => new ToolCalls(tools, port, scope))

  /**
   * Records the call and runs it. Resolves when it has ended, or when it was started if it is read-only; the output of a
   * read-only call is emitted with a later one or by `finish`. Does nothing when the turn has ended. `attempt` counts from
   * 1. `eventCallId` is the id in events of a call with a pending question.
   */
  start(call: ToolCall, attempt = 1, eventCallId?: string): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { port, tools } = this
      const isReadOnly = tools.isReadOnly(call)
      if (!isReadOnly) {
        const before = yield* this.joinReads()
        if (before.length > 0) yield* port.emit(before)
      }
      const id = eventCallId ?? port.eventCallId(call.call_id ?? "")
      if (!(yield* port.recordCall(callStart(tools, call, attempt, id)))) return
      // Events of the tool have this id; the output is recorded with the id of the provider.
      const running = resultOf(tools, id === call.call_id ? call : { ...call, call_id: id })
      if (isReadOnly) {
        const fiber = yield* Effect.forkIn(this.permits.withPermits(1)(running), this.scope)
        this.reads.push({ call, eventCallId: id, fiber })
      } else {
        yield* port.emit(this.eventsOf({ call, eventCallId: id }, yield* running))
      }
    })
  }

  /** Waits for the calls that still run. Resolves with the events to emit: their outputs, then the attached images. */
  get finish(): Effect.Effect<ReadonlyArray<EventMsg>> {
    return Effect.suspend(() =>
      this.reads.length === 0
        ? Effect.succeed(this.withImages([]))
        : Effect.map(this.joinReads(), (outputs) => this.withImages(outputs)),
    )
  }

  private withImages(outputs: ReadonlyArray<EventMsg>): ReadonlyArray<EventMsg> {
    const { images } = this
    this.images = []
    return images.length === 0 ? outputs : [...outputs, imagesEvent(images)]
  }

  private joinReads(): Effect.Effect<ReadonlyArray<EventMsg>> {
    const started = this.reads
    this.reads = []
    const outputs = Effect.forEach(started, ({ fiber, ...call }) =>
      Effect.map(Fiber.join(fiber), (result) => this.eventsOf(call, result)),
    )
    return Effect.map(outputs, (events) => events.flat())
  }

  private eventsOf({ call, eventCallId }: Started, result: ToolResult): ReadonlyArray<EventMsg> {
    const { images = [], isRefused = false, output } = result
    this.images.push(...images)
    const before = isRefused ? refusal(call, eventCallId, output) : []
    return [...before, outputEvent(call, result)]
  }
}
