/**
 * A model that follows a script: its n-th response is the n-th entry. It records the requests, so that a test can check
 * what the model was sent. A request that no entry is left for fails its turn with an error that shows the request.
 */
import {
  ModelClient,
  ModelError,
  type ModelEvent,
  type ModelRequest,
} from "@colloquy/core/ModelClient"
import type { ResponseItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import { offlineProvider } from "@colloquy/models/Providers"
import * as Effect from "effect/Effect"
import type * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { jsonText } from "@colloquy/tools/host/FailureText"
import {
  checkOptions,
  duration as durationKind,
  flag,
  is,
  type Kinds,
  limit,
  named,
  optional,
  options as optionsOf,
  shown,
  text as textKind,
} from "../internal/Options.ts"
import { model, type Model } from "../Model.ts"

/** One thing that a response does. */
export type ScriptedPart =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Call"; readonly tool: string; readonly input: unknown }
  | { readonly _tag: "Pause"; readonly duration: Duration.Input }
  | { readonly _tag: "Failure"; readonly message: string; readonly retryable: boolean }
  | { readonly _tag: "Usage"; readonly tokens: number }

/** One response: a text, one thing, or several in order. */
export type ScriptedResponse = string | ScriptedPart | ReadonlyArray<string | ScriptedPart>

/** The responses in order, or a function that gives the response to each request; undefined: nothing was expected. */
export type Script =
  | ReadonlyArray<ScriptedResponse>
  | ((request: ModelRequest, index: number) => ScriptedResponse | undefined)

const jsonValue = is("a value with a JSON form", (value) => jsonText(value) !== undefined)

/** The response calls a tool of this name with this input; a text is the JSON as the model wrote it. */
export const calls = (tool: string, input: unknown = {}): ScriptedPart => {
  checkOptions("Agent.calls tool", named("the name of a tool"), tool)
  checkOptions("Agent.calls input", jsonValue, input)
  return { _tag: "Call", tool, input }
}

/** The response is a text. */
export const says = (text: string): ScriptedPart => {
  checkOptions("Agent.says text", textKind, text)
  return { _tag: "Text", text }
}

/** The model takes its time, on the `Clock`. */
export const pauses = (duration: Duration.Input): ScriptedPart => {
  checkOptions("Agent.pauses duration", durationKind, duration)
  return { _tag: "Pause", duration }
}

/** How a response breaks off. */
export interface FailureOptions {
  /** True: the request is sent again. Default false. */
  readonly retryable?: boolean
}

const failureOptions = optionsOf({ retryable: optional(flag) } satisfies Kinds<FailureOptions>)

/** The response breaks off. With `retryable` the request is sent again, and the next entry responds to it. */
export const fails = (message: string, options: FailureOptions = {}): ScriptedPart => {
  checkOptions("Agent.fails message", textKind, message)
  checkOptions("Agent.fails", failureOptions, options)
  return { _tag: "Failure", message, retryable: options.retryable ?? false }
}

/** The provider reports this many tokens for the response. Default: one token per four characters. */
export const uses = (tokens: number): ScriptedPart => {
  checkOptions("Agent.uses tokens", limit, tokens)
  return { _tag: "Usage", tokens }
}

/** A scripted model and what it was sent. */
export interface ScriptedModel extends Model {
  /** The requests so far, oldest first. */
  readonly requests: ReadonlyArray<ModelRequest>
  /** Number of script entries that no request has used; 0 for a script that is a function. */
  readonly left: () => number
}

const shownChars = 400

/** The last items of a request, for an error. */
const shownRequest = ({ input, tools }: ModelRequest): string => {
  const last = input.slice(-2).map((item) => JSON.stringify(item).slice(0, shownChars))
  const names = tools.map((tool) => ("name" in tool ? tool.name : tool.type))
  return `tools: ${names.join(", ") || "none"}; last items:\n${last.join("\n")}`
}

const unexpected = (request: ModelRequest, index: number, length: number | undefined): ModelError =>
  new ModelError({
    reason: "Request",
    retryable: false,
    message: `the script ${length === undefined ? "has no response" : `has ${length} responses`}, and nobody expected request ${index + 1}: ${shownRequest(request)}`,
  })

const usageOf = (input: number, output: number): TokenUsage => ({
  input_tokens: input,
  cached_input_tokens: 0,
  output_tokens: output,
  reasoning_output_tokens: 0,
  total_tokens: input + output,
})

const tokensOf = (text: string): number => Math.ceil(text.length / 4)

const done = (item: ResponseItem): ModelEvent => ({ _tag: "ItemDone", item })

const eventsOf = (part: ScriptedPart, callId: string): Stream.Stream<ModelEvent, ModelError> => {
  switch (part._tag) {
    case "Text":
      return Stream.make<ReadonlyArray<ModelEvent>>(
        { _tag: "TextDelta", delta: part.text },
        done({
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: part.text }],
        }),
      )
    case "Call":
      return Stream.make(
        done({
          type: "function_call",
          name: part.tool,
          arguments: typeof part.input === "string" ? part.input : JSON.stringify(part.input),
          call_id: callId,
        }),
      )
    case "Pause":
      return Stream.fromEffectDrain(Effect.sleep(part.duration))
    case "Failure":
      return Stream.fail(
        new ModelError({ reason: "Stream", message: part.message, retryable: part.retryable }),
      )
    case "Usage":
      return Stream.empty
  }
}

const tags: ReadonlySet<unknown> = new Set<ScriptedPart["_tag"]>([
  "Text",
  "Call",
  "Pause",
  "Failure",
  "Usage",
])

const isPart = (part: unknown): part is ScriptedPart | string =>
  typeof part === "string" || (Predicate.hasProperty(part, "_tag") && tags.has(part._tag))

/** The parts of a response; undefined for what is none, which types cannot exclude in every test. */
const partsOf = (response: ScriptedResponse): ReadonlyArray<ScriptedPart> | undefined => {
  const parts: ReadonlyArray<unknown> = Array.isArray(response) ? response : [response]
  return parts.length > 0 && parts.every(isPart)
    ? parts.map((part) => (typeof part === "string" ? says(part) : part))
    : undefined
}

/** A response that is none, as an error shows it. */
const shownResponse = (response: unknown): string =>
  Effect.isEffect(response)
    ? "an effect"
    : typeof response === "function" || Predicate.isPromiseLike(response)
      ? shown(response)
      : (jsonText(response) ?? "a value without a JSON form")

/** Most requests of one turn. A function that answers every request with a call would let a turn go on for ever. */
const maxRequestsOfTurn = 500

/** Number of requests that the turn has sent before this one. */
const requestsBefore = ({ input }: ModelRequest): number => {
  const start = input.findLastIndex((item) => item.type === "message" && item.role === "user")
  return input
    .slice(start + 1)
    .filter((item, i, items) => isOfModel(item) && !(i > 0 && isOfModel(items[i - 1]))).length
}

const failed = (index: number, problem: string): ModelError =>
  new ModelError({
    reason: "Request",
    retryable: false,
    message: `the response of the script to request ${index + 1}: ${problem}`,
  })

const isOfModel = (item: ResponseItem | undefined): boolean =>
  item?.type === "function_call" || (item?.type === "message" && item.role === "assistant")

/** The entry of the script for a request; undefined where none was expected. */
const entryOf = (
  script: Script,
  request: ModelRequest,
  index: number,
): Effect.Effect<ScriptedResponse | undefined, ModelError> => {
  if (requestsBefore(request) >= maxRequestsOfTurn) {
    const problem = `it is request ${maxRequestsOfTurn + 1} of one turn; a script that is a function has to give a text in the end, for example once \`request.input\` has the output of the call`
    return Effect.fail(failed(index, problem))
  }
  return typeof script === "function"
    ? Effect.try({
        try: () => script(request, index),
        catch: (error) => failed(index, `its function failed: ${String(error)}`),
      })
    : Effect.succeed(script[index])
}

/** The response to the request number `index`. */
const respond = (
  request: ModelRequest,
  index: number,
  response: ScriptedResponse,
): Stream.Stream<ModelEvent, ModelError> => {
  const parts = partsOf(response)
  if (parts === undefined) {
    const expected = "a text, a part such as Agent.calls(…), or a list of at least one of them"
    return Stream.fail(failed(index, `expected ${expected}, got ${shownResponse(response)}`))
  }
  const tokens = parts.findLast((part) => part._tag === "Usage")?.tokens
  const usage =
    tokens === undefined
      ? usageOf(tokensOf(JSON.stringify(request.input)), tokensOf(JSON.stringify(parts)))
      : usageOf(tokens, 0)
  return parts
    .map((part, i) => eventsOf(part, `call_${index}_${i}`))
    .reduce((before, next) => Stream.concat(before, next))
    .pipe(Stream.concat(Stream.make<ReadonlyArray<ModelEvent>>({ _tag: "Completed", usage })))
}

/** Makes a model of a script. It has no state but its place in the script. */
export const scripted = (script: Script): ScriptedModel => {
  const requests: Array<ModelRequest> = []
  const stream = (request: ModelRequest) =>
    Stream.suspend(() => {
      const index = requests.length
      requests.push(request)
      return Stream.unwrap(
        Effect.map(entryOf(script, request, index), (response) =>
          response === undefined
            ? Stream.fail(
                unexpected(
                  request,
                  index,
                  typeof script === "function" ? undefined : script.length,
                ),
              )
            : respond(request, index, response),
        ),
      )
    })
  const layer = Layer.succeed(ModelClient, { stream })
  return {
    ...model("scripted", { ...offlineProvider, id: "scripted", name: "Scripted" }, layer),
    requests,
    left: () => (typeof script === "function" ? 0 : Math.max(0, script.length - requests.length)),
  }
}
