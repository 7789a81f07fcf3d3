/**
 * A model that needs no network and no API key: it follows a script, and answers by simple rules
 * where there is none.
 *
 * For demonstrations, for trying a client, and for tests of everything above the model.
 * Deterministic: texts, call ids and usage are functions of the request (L12). It waits only on
 * `Clock`.
 */
import {
  ModelClient,
  ModelError,
  type ModelEvent,
  type ModelRequest,
} from "@colloquy/core/ModelClient"
import type { ResponseItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import * as Arr from "effect/Array"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { offlineAnswer, offlineSummary } from "./internal/OfflineAnswer.ts"
import { callId, makePositions } from "./internal/OfflinePosition.ts"
import type { OfflineScript, OfflineStep } from "./OfflineScript.ts"

/** Script and speed of the model. */
export interface OfflineModelOptions {
  /** Responses in order. When it is used up or absent, the rules answer. */
  readonly script?: OfflineScript
  /** Pause before each text delta. Default: none. */
  readonly deltaDelay?: Duration.Input
}

/** Events that are emitted together after a pause. */
interface Beat {
  readonly pause: Duration.Duration
  readonly events: Array<ModelEvent>
}

/** A planned response: its beats, and the failure that ends it instead of `Completed`. */
interface ResponsePlan {
  readonly beats: ReadonlyArray<Beat>
  readonly failure: ModelError | undefined
}

const words = (text: string): ReadonlyArray<string> => text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? []

/**
 * An approximate count of tokens: four characters each. It needs to be deterministic, not exact.
 */
const tokens = (text: string): number => Math.ceil(text.length / 4)

const inputTokens = ({ instructions, input }: ModelRequest): number =>
  tokens(instructions) + tokens(JSON.stringify(input))

const usageOf = (
  given: Partial<TokenUsage> | undefined,
  computed: () => Omit<TokenUsage, "total_tokens">,
): TokenUsage => {
  const usage = given ?? computed()
  const input_tokens = usage.input_tokens ?? 0
  const output_tokens = usage.output_tokens ?? 0
  return {
    input_tokens,
    cached_input_tokens: usage.cached_input_tokens ?? 0,
    output_tokens,
    reasoning_output_tokens: usage.reasoning_output_tokens ?? 0,
    total_tokens: given?.total_tokens ?? input_tokens + output_tokens,
  }
}

type OutputStep = Exclude<
  OfflineStep,
  { readonly delay_ms: number } | { readonly error: unknown } | { readonly usage: unknown }
>

interface StepOutput {
  readonly deltas: ReadonlyArray<ModelEvent>
  readonly item: ResponseItem
  /** Number of output tokens. */
  readonly outputTokens: number
  /** Number of output tokens that are reasoning. */
  readonly reasoningTokens: number
}

const outputOf = (step: OutputStep, nextCallId: () => string): StepOutput => {
  if ("text" in step) {
    const deltas = step.deltas ?? words(step.text)
    const text = step.deltas === undefined ? step.text : step.deltas.join("")
    return {
      deltas: deltas.map((delta) => ({ _tag: "TextDelta", delta })),
      item: { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
      outputTokens: tokens(text),
      reasoningTokens: 0,
    }
  }
  if ("reasoning" in step) {
    const text = step.reasoning
    const count = tokens(text)
    return {
      deltas: [
        { _tag: "ReasoningSectionBreak" },
        ...words(text).map((delta): ModelEvent => ({ _tag: "ReasoningDelta", delta })),
      ],
      item: { type: "reasoning", summary: [{ type: "summary_text", text }] },
      outputTokens: count,
      reasoningTokens: count,
    }
  }
  if ("tool_call" in step) {
    const { name, call_id = nextCallId() } = step.tool_call
    const given = step.tool_call.arguments
    const text = typeof given === "string" ? given : JSON.stringify(given)
    const item = { type: "function_call", name, arguments: text, call_id } as const
    return { deltas: [], item, outputTokens: tokens(text), reasoningTokens: 0 }
  }
  const { name, input, call_id = nextCallId() } = step.custom_tool_call
  const item = { type: "custom_tool_call", call_id, name, input } as const
  return { deltas: [], item, outputTokens: tokens(input), reasoningTokens: 0 }
}

type ErrorStep = Extract<OfflineStep, { readonly error: unknown }>

const failureOf = ({ message, reason, retryable }: ErrorStep["error"]): ModelError => {
  const tooLong = reason === "context_window"
  return new ModelError({
    reason: tooLong ? "ContextWindow" : "Stream",
    message,
    retryable: retryable ?? !tooLong,
  })
}

/** A response that is being planned. */
class Plan {
  readonly beats: Array<Beat> = []
  outputTokens = 0
  reasoningTokens = 0
  /** The usage that a step states, if any. */
  statedUsage: Partial<TokenUsage> | undefined
  private pause = Duration.zero
  private calls = 0
  private readonly position: number

  constructor(position: number) {
    this.position = position
  }

  delay(duration: Duration.Duration): void {
    this.pause = Duration.sum(this.pause, duration)
  }

  /** Emits an event after the delay so far and a further one. */
  emit(event: ModelEvent, before = Duration.zero): void {
    const last = this.beats.at(-1)
    const wait = Duration.sum(this.pause, before)
    if (last !== undefined && Duration.isZero(wait)) last.events.push(event)
    else this.beats.push({ pause: wait, events: [event] })
    this.pause = Duration.zero
  }

  emitOutput(step: OutputStep, deltaDelay: Duration.Duration): void {
    const output = outputOf(step, () => callId(this.position, this.calls++))
    for (const delta of output.deltas) this.emit(delta, deltaDelay)
    this.emit({ _tag: "ItemDone", item: output.item })
    this.outputTokens += output.outputTokens
    this.reasoningTokens += output.reasoningTokens
  }

  end(failure: ModelError): ResponsePlan {
    if (!Duration.isZero(this.pause)) this.beats.push({ pause: this.pause, events: [] })
    return { beats: this.beats, failure }
  }
}

/**
 * Plans the response for the steps of a script.
 *
 * @param position number of the response, which is part of its call ids
 */
const planResponse = (
  request: ModelRequest,
  position: number,
  steps: ReadonlyArray<OfflineStep>,
  deltaDelay: Duration.Duration,
): ResponsePlan => {
  const plan = new Plan(position)
  for (const step of steps) {
    if ("delay_ms" in step) plan.delay(Duration.millis(step.delay_ms))
    else if ("usage" in step) plan.statedUsage = step.usage
    else if ("error" in step) return plan.end(failureOf(step.error))
    else plan.emitOutput(step, deltaDelay)
  }
  const usage = usageOf(plan.statedUsage, () => ({
    input_tokens: inputTokens(request),
    cached_input_tokens: 0,
    output_tokens: plan.outputTokens,
    reasoning_output_tokens: plan.reasoningTokens,
  }))
  plan.emit({ _tag: "Completed", usage })
  return { beats: plan.beats, failure: undefined }
}

const streamOf = ({ beats, failure }: ResponsePlan): Stream.Stream<ModelEvent, ModelError> => {
  const delivered = Stream.fromIterable(beats).pipe(
    Stream.rechunk(1),
    Stream.flatMap(({ pause, events }) => {
      const together = Arr.isReadonlyArrayNonEmpty(events) ? Stream.fromArray(events) : Stream.empty
      return Duration.isZero(pause)
        ? together
        : Stream.concat(Stream.fromEffectDrain(Effect.sleep(pause)), together)
    }),
  )
  return failure === undefined ? delivered : Stream.concat(delivered, Stream.fail(failure))
}

/** A client for providers of the wire `offline`. Its position in the script is per conversation. */
export const make = (options?: OfflineModelOptions): Context.Service.Shape<typeof ModelClient> => {
  const script = options?.script ?? []
  const deltaDelay = Duration.fromInputUnsafe(options?.deltaDelay ?? 0)
  const positions = makePositions(script)
  return {
    stream: (request) =>
      Stream.suspend(() => {
        const summary = offlineSummary(request)
        if (summary !== undefined) return streamOf(planResponse(request, 0, summary, deltaDelay))
        const position = positions.next(request.conversationId, request.input)
        const steps = script[position] ?? offlineAnswer(request.model, request.input)
        return streamOf(planResponse(request, position, steps, deltaDelay))
      }),
  }
}

/** Layer of the offline model alone; `Models.layer` adds the HTTP wires. */
export const layer = (options?: OfflineModelOptions): Layer.Layer<ModelClient> =>
  Layer.sync(ModelClient, () => make(options))
