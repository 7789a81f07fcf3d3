/**
 * A model that needs no network and no key: it follows a script, and where there is none it answers by simple rules.
 *
 * For demonstrations, for trying a client, and for tests of everything above the model. Deterministic: texts, call
 * ids and usage are functions of the request (L12); its only wait is on `Clock`.
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

export interface OfflineModelOptions {
  /** When it is used up, or absent, the rules answer. */
  readonly script?: OfflineScript
  /** Pause before each text delta; zero by default. */
  readonly deltaDelay?: Duration.Input
}

/** Events said together after a pause. */
interface Beat {
  readonly pause: Duration.Duration
  readonly events: Array<ModelEvent>
}

/** A response laid out: its beats, and the failure that ends it instead of `Completed`. */
interface Performance {
  readonly beats: ReadonlyArray<Beat>
  readonly failure: ModelError | undefined
}

const words = (text: string): ReadonlyArray<string> => text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? []

/** A rough token is four characters; exactness is not the point, determinism is. */
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

type Spoken = Exclude<
  OfflineStep,
  { readonly delay_ms: number } | { readonly error: unknown } | { readonly usage: unknown }
>

interface Speech {
  readonly deltas: ReadonlyArray<ModelEvent>
  readonly item: ResponseItem
  /** Output tokens, and how many of them are reasoning. */
  readonly output: number
  readonly thought: number
}

const speech = (step: Spoken, nextCallId: () => string): Speech => {
  if ("text" in step) {
    const deltas = step.deltas ?? words(step.text)
    const text = step.deltas === undefined ? step.text : step.deltas.join("")
    return {
      deltas: deltas.map((delta) => ({ _tag: "TextDelta", delta })),
      item: { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
      output: tokens(text),
      thought: 0,
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
      output: count,
      thought: count,
    }
  }
  if ("tool_call" in step) {
    const { name, call_id = nextCallId() } = step.tool_call
    const given = step.tool_call.arguments
    const text = typeof given === "string" ? given : JSON.stringify(given)
    const item = { type: "function_call", name, arguments: text, call_id } as const
    return { deltas: [], item, output: tokens(text), thought: 0 }
  }
  const { name, input, call_id = nextCallId() } = step.custom_tool_call
  const item = { type: "custom_tool_call", call_id, name, input } as const
  return { deltas: [], item, output: tokens(input), thought: 0 }
}

const failureOf = (message: string, retryable: boolean, tooLong: boolean) =>
  new ModelError({ reason: tooLong ? "ContextWindow" : "Stream", message, retryable })

/** @param position names the response in its call ids */
const perform = (
  request: ModelRequest,
  position: number,
  steps: ReadonlyArray<OfflineStep>,
  deltaDelay: Duration.Duration,
): Performance => {
  const beats: Array<Beat> = []
  let pause = Duration.zero
  let calls = 0
  let output = 0
  let thought = 0
  let givenUsage: Partial<TokenUsage> | undefined
  const say = (event: ModelEvent, before = Duration.zero) => {
    const last = beats.at(-1)
    const wait = Duration.sum(pause, before)
    if (last !== undefined && Duration.isZero(wait)) last.events.push(event)
    else beats.push({ pause: wait, events: [event] })
    pause = Duration.zero
  }
  for (const step of steps) {
    if ("delay_ms" in step) pause = Duration.sum(pause, Duration.millis(step.delay_ms))
    else if ("usage" in step) givenUsage = step.usage
    else if ("error" in step) {
      const tooLong = step.error.reason === "context_window"
      const { message, retryable = !tooLong } = step.error
      if (!Duration.isZero(pause)) beats.push({ pause, events: [] })
      return { beats, failure: failureOf(message, retryable, tooLong) }
    } else {
      const said = speech(step, () => callId(position, calls++))
      for (const delta of said.deltas) say(delta, deltaDelay)
      say({ _tag: "ItemDone", item: said.item })
      output += said.output
      thought += said.thought
    }
  }
  const usage = usageOf(givenUsage, () => ({
    input_tokens: inputTokens(request),
    cached_input_tokens: 0,
    output_tokens: output,
    reasoning_output_tokens: thought,
  }))
  say({ _tag: "Completed", usage })
  return { beats, failure: undefined }
}

const play = ({ beats, failure }: Performance): Stream.Stream<ModelEvent, ModelError> => {
  const said = Stream.fromIterable(beats).pipe(
    Stream.rechunk(1),
    Stream.flatMap(({ pause, events }) => {
      const spoken = Arr.isReadonlyArrayNonEmpty(events) ? Stream.fromArray(events) : Stream.empty
      return Duration.isZero(pause)
        ? spoken
        : Stream.concat(Stream.fromEffectDrain(Effect.sleep(pause)), spoken)
    }),
  )
  return failure === undefined ? said : Stream.concat(said, Stream.fail(failure))
}

/** A client for providers of the wire `offline`; its position in the script is per conversation. */
export const make = (options?: OfflineModelOptions): Context.Service.Shape<typeof ModelClient> => {
  const script = options?.script ?? []
  const deltaDelay = Duration.fromInputUnsafe(options?.deltaDelay ?? 0)
  const positions = makePositions(script)
  return {
    stream: (request) =>
      Stream.suspend(() => {
        const summary = offlineSummary(request)
        if (summary !== undefined) return play(perform(request, 0, summary, deltaDelay))
        const position = positions.next(request.conversationId, request.input)
        const steps = script[position] ?? offlineAnswer(request.model, request.input)
        return play(perform(request, position, steps, deltaDelay))
      }),
  }
}

/** The offline model alone; `Models.layer` adds the HTTP half. */
export const layer = (options?: OfflineModelOptions): Layer.Layer<ModelClient> =>
  Layer.sync(ModelClient, () => make(options))
