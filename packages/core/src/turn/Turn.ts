/**
 * The turn loop: sends a request to the model, emits what the model streams, runs the tools that it calls, and repeats
 * until it calls none. `ModelResponse.ts` reads one response, `ToolCalls.ts` runs its calls.
 *
 * The turn reaches its conversation through a `TurnPort` and keeps no state of it. Each finished item is recorded when it
 * arrives, so a request that is retried after its stream failed contains what was done already.
 *
 *     advance ──▶ history too long? ── yes ──▶ summarise ──▶ advance
 *        ▲              │ no
 *        │              ▼
 *        │           request ── failed ──▶ summarise (too long for the model), leave images out (refused)
 *        │              │ complete         or wait for the retry ──▶ advance
 *        └──────────────┘       `advance` ends the turn when no call and no new input needs another request
 */
import { defined } from "@colloquy/protocol/Defined"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { endReview } from "../review/Review.ts"
import { reviewInstructionsOf } from "../review/ReviewInstructions.ts"
import { ModelClient, type ModelError, type ModelRequest } from "../ModelClient.ts"
import { type ToolContext, ToolRuntime, type TurnTools } from "../ToolRuntime.ts"
import { withClientTools } from "./ClientTools.ts"
import * as Compaction from "./compaction/Compaction.ts"
import { isFull, stillAbove } from "./compaction/Limit.ts"
import { type ImagesRefused, withoutRefused } from "./ImageRefusal.ts"
import { instructionsOf } from "./Instructions.ts"
import { overflowed } from "./ModelEvents.ts"
import { ModelResponse, type ResponseResult } from "./ModelResponse.ts"
import { reasoningOf } from "./Reasoning.ts"
import { replayCalls } from "./ReplayedCalls.ts"
import { beforeRetry } from "./Retry.ts"
import { ToolCalls } from "./ToolCalls.ts"
import { runCommand } from "./UserCommand.ts"
import type { Step, TurnOptions, TurnPort } from "./TurnPort.ts"

/** Runs the turn to its end. Fails with the text of its `error` event. An interruption stops the model and the tools. */
export const run = (
  turn: TurnOptions,
  port: TurnPort,
): Effect.Effect<void, ModelError | ImagesRefused, ModelClient | ToolRuntime> => {
  if (turn.compacts === true) return Compaction.run(turn, port)
  const responding = Effect.scoped(
    Effect.flatMap(ToolRuntime, (runtime) =>
      Effect.flatMap(runtime.open(contextOf(turn, port)), (own) => {
        const tools = withClientTools(own, turn.settings.clientTools, port)
        return Effect.andThen(beforeRequests(turn, port, tools), loop(turn, port, tools))
      }),
    ),
  )
  // What the start of the turn published is delivered, or its record is on its way to the disk, before its request is built.
  return turn.first === undefined ? responding : Effect.andThen(Effect.yieldNow, responding)
}

/** Runs what comes before the first request: calls that a restart interrupted, or a command of the user. */
const beforeRequests = (
  turn: TurnOptions,
  port: TurnPort,
  tools: TurnTools,
): Effect.Effect<void> => {
  if (turn.calls !== undefined) return Effect.scoped(replayCalls(turn, turn.calls, port, tools))
  return turn.command === undefined
    ? Effect.void
    : runCommand(turn.id, turn.command.text, port, tools)
}

const contextOf = (turn: TurnOptions, port: TurnPort): ToolContext => ({
  conversationId: turn.conversationId,
  turnId: turn.id,
  settings: turn.settings,
  emit: (msg) => port.emit([msg]),
  approve: port.ask,
  granted: port.granted,
  permissions: port.permissions,
  elicit: port.elicit,
  requestInput: port.requestInput,
  canRequestInput: port.canRequestInput,
})

/** `fresh` until the request after a summary is complete; `answered` shows then whether the summary was enough. */
type SummaryState = "none" | "fresh" | "answered"

/** After a command of the user only input that has joined needs a request. */
const firstProgress = ({ command }: TurnOptions) => ({
  sawSeq: command?.seq ?? -1,
  followUp: command === undefined,
  lastMessage: null as string | null,
})

const loop = Effect.fnUntraced(function* (
  turn: TurnOptions,
  port: TurnPort,
  tools: TurnTools,
): Effect.fn.Return<void, ModelError | ImagesRefused, ModelClient | Scope.Scope> {
  const { settings } = turn
  let hasAnswered = (turn.calls ?? []).length > 0
  let progress = firstProgress(turn)
  let attempt = 0
  let summary: SummaryState = "none"
  let { first } = turn
  while (true) {
    const step = first ?? (yield* port.advance(progress))
    first = undefined
    if (step === undefined) return
    const full = isFull(settings, step.tokens)
    if (full && summary === "answered") return yield* stillAbove(settings, step.tokens)
    if (summary === "answered") summary = "none"
    progress = { sawSeq: step.seq, followUp: true, lastMessage: null }
    if (full && summary === "none" && Compaction.hasAnswers(step)) {
      yield* Compaction.inline(turn, port, step)
      summary = "fresh"
      continue
    }
    const outcome = yield* Effect.result(respond(turn, port, tools, step))
    if (outcome._tag === "Success") {
      attempt = 0
      hasAnswered = true
      if (summary === "fresh") summary = "answered"
      progress = { sawSeq: step.seq, ...(yield* resultOf(outcome.success, turn, port)) }
    } else if (yield* summariseAfter(outcome.failure, turn, port, step, summary)) {
      summary = "fresh"
    } else if (!(yield* withoutRefused(outcome.failure, port, step, hasAnswered))) {
      yield* beforeRetry(settings.provider, ++attempt, outcome.failure, port.emit)
    }
  }
})

/** The result of a complete response; the last one of a review ends the review. */
const resultOf = (
  result: ResponseResult,
  turn: TurnOptions,
  port: TurnPort,
): Effect.Effect<ResponseResult> =>
  turn.reviews === true && !result.followUp
    ? Effect.map(endReview(port, result.lastMessage), (lastMessage) => ({ ...result, lastMessage }))
    : Effect.succeed(result)

/**
 * Summarises the history if the request was too long for the model; resolves with whether it did. Fails when the history
 * was just summarised and is still too long.
 */
const summariseAfter = Effect.fnUntraced(function* (
  error: ModelError,
  turn: TurnOptions,
  port: TurnPort,
  step: Step,
  summary: SummaryState,
): Effect.fn.Return<boolean, ModelError, ModelClient> {
  if (error.reason !== "ContextWindow") return false
  if (summary === "fresh") return yield* stillAbove(turn.settings, step.tokens)
  if (!Compaction.hasAnswers(step)) return false
  yield* port.emit([overflowed(error.message)])
  yield* Compaction.inline(turn, port, step)
  return true
})

const requestOf = (turn: TurnOptions, step: Step, tools: ModelRequest["tools"]): ModelRequest => {
  const { settings } = turn
  return {
    conversationId: turn.conversationId,
    provider: settings.provider,
    model: settings.model,
    instructions: turn.reviews === true ? reviewInstructionsOf(settings) : instructionsOf(settings),
    input: step.history,
    tools,
    ...reasoningOf(settings),
    ...defined({ verbosity: settings.verbosity, outputSchema: settings.outputSchema }),
  }
}

/** Sends one request and reads its response. */
const respond = Effect.fnUntraced(function* (
  turn: TurnOptions,
  port: TurnPort,
  tools: TurnTools,
  step: Step,
): Effect.fn.Return<ResponseResult, ModelError, ModelClient | Scope.Scope> {
  const { settings } = turn
  const models = yield* ModelClient
  const calls = yield* ToolCalls.make(tools, port)
  const response = new ModelResponse({
    port,
    settings,
    usage: step.usage,
    calls,
    holdsAnswer: turn.reviews === true,
  })
  const specs = yield* tools.specs
  // The record of the start of the turn may have reached the disk by now: what it publishes is not kept waiting.
  if (step === turn.first) yield* Effect.yieldNow
  const request = requestOf(turn, step, specs)
  yield* models.stream(request).pipe(
    Stream.runForEachArray((events) => response.handle(events)),
    Effect.tapError(() => response.abandon),
  )
  return response.result
})
