/**
 * The turn loop (§6.3): ask the model, show what it says, run the tools it calls, ask again until it calls none.
 * How the calls of one response run is in `ToolCalls.ts`.
 *
 * It tells and asks its conversation through a `TurnPort` and holds no state of it. Each finished item is recorded
 * when it arrives, so a request that is repeated after its stream failed sees what was done already.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Compaction from "./compaction/Compaction.ts"
import { isFull, stillAbove } from "./compaction/Limit.ts"
import { isToolCall } from "../log/History.ts"
import { answerOf } from "../log/MessageEvents.ts"
import { instructionsOf } from "./Instructions.ts"
import { ModelClient, type ModelError, type ModelEvent, type ModelRequest } from "../ModelClient.ts"
import { type ToolContext, ToolRuntime, type TurnTools } from "../ToolRuntime.ts"
import { reasoningOf } from "./Reasoning.ts"
import { replayCalls } from "./ReplayedCalls.ts"
import * as ToolCalls from "./ToolCalls.ts"
import type { Step, TurnOptions, TurnPort } from "./TurnPort.ts"
import { deltaEvents, itemEvents, overflowed, tokenCount } from "./ModelEvents.ts"
import { beforeRetry } from "./Retry.ts"
import { WebSearches } from "./WebSearches.ts"

/** What one response of the model left behind. */
interface Response {
  readonly followUp: boolean
  readonly lastMessage: string | null
}

/** Runs the turn to its end; fails with what the `error` event says. Interrupting it stops model and tools. */
export const run = (
  turn: TurnOptions,
  port: TurnPort,
): Effect.Effect<void, ModelError, ModelClient | ToolRuntime> =>
  turn.compacts === true
    ? Compaction.run(turn, port)
    : Effect.scoped(
        Effect.flatMap(ToolRuntime, (runtime) =>
          Effect.flatMap(runtime.open(contextOf(turn, port)), (tools) =>
            turn.calls === undefined
              ? loop(turn, port, tools)
              : Effect.andThen(
                  Effect.scoped(replayCalls(turn, turn.calls, port, tools)),
                  loop(turn, port, tools),
                ),
          ),
        ),
      )

const contextOf = (turn: TurnOptions, port: TurnPort): ToolContext => ({
  conversationId: turn.conversationId,
  turnId: turn.id,
  settings: turn.settings,
  emit: (msg) => port.emit([msg]),
  approve: port.ask,
  granted: port.granted,
  elicit: port.elicit,
})

const loop = Effect.fnUntraced(function* (
  turn: TurnOptions,
  port: TurnPort,
  tools: TurnTools,
): Effect.fn.Return<void, ModelError, ModelClient> {
  const { settings } = turn
  let progress = { sawSeq: -1, followUp: true, lastMessage: null as string | null }
  let attempt = 0
  // `fresh` until the request after a summary was answered; then it is known whether the summary was enough.
  let summary: "none" | "fresh" | "answered" = "none"
  while (true) {
    const step = yield* port.advance(progress)
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
    const outcome = yield* Effect.result(Effect.scoped(respond(turn, port, tools, step)))
    if (outcome._tag === "Success") {
      attempt = 0
      if (summary === "fresh") summary = "answered"
      progress = { sawSeq: step.seq, ...outcome.success }
      continue
    }
    const error = outcome.failure
    if (error.reason === "ContextWindow" && summary === "fresh") {
      return yield* stillAbove(settings, step.tokens)
    }
    if (error.reason === "ContextWindow" && Compaction.hasAnswers(step)) {
      yield* port.emit([overflowed(error.message)])
      yield* Compaction.inline(turn, port, step)
      summary = "fresh"
    } else {
      yield* beforeRetry(settings.provider, ++attempt, error, port.emit)
    }
  }
})

const requestOf = (turn: TurnOptions, step: Step, tools: ModelRequest["tools"]): ModelRequest => {
  const { settings } = turn
  return {
    conversationId: turn.conversationId,
    provider: settings.provider,
    model: settings.model,
    instructions: instructionsOf(settings),
    input: step.history,
    tools,
    ...reasoningOf(settings),
    ...(settings.verbosity === undefined ? {} : { verbosity: settings.verbosity }),
  }
}

const respond = Effect.fnUntraced(function* (
  turn: TurnOptions,
  port: TurnPort,
  tools: TurnTools,
  step: Step,
): Effect.fn.Return<Response, ModelError, ModelClient | Scope.Scope> {
  const models = yield* ModelClient
  const calls = yield* ToolCalls.make(tools, port)
  const tell = (messages: ReadonlyArray<EventMsg>) =>
    messages.length === 0 ? Effect.void : port.emit(messages)
  const searches = new WebSearches(port.eventCallId)
  const finish = Effect.map(calls.finish, (outputs) => [...searches.close(), ...outputs])
  let followUp = false
  let lastMessage: string | null = null
  const handle = Effect.fnUntraced(function* (events: ReadonlyArray<ModelEvent>) {
    let told: Array<EventMsg> = []
    for (const event of events) {
      if (event._tag === "Completed") {
        // What the calls tell comes before what the response cost (§4.6).
        told.push(...(yield* finish))
        const { rateLimits, usage } = event
        told.push(tokenCount(step.usage, usage, turn.settings.contextWindow, rateLimits))
      } else if (event._tag === "ItemDone") {
        told.push(...itemEvents(event.item, turn.settings))
        lastMessage = answerOf(event.item) ?? lastMessage
        if (isToolCall(event.item)) {
          followUp = true
          yield* port.emit(told)
          told = []
          yield* calls.start(event.item)
        }
      } else if (event._tag === "WebSearchBegin" || event._tag === "WebSearchEnd") {
        told.push(...searches.add(event))
      } else told.push(...deltaEvents(event, turn.settings))
    }
    yield* tell(told)
  })
  const request = requestOf(turn, step, yield* tools.specs)
  yield* models.stream(request).pipe(
    Stream.runForEachArray(handle),
    // A response that broke off is asked for again: with the outputs of the calls it did make.
    Effect.tapError(() => Effect.flatMap(finish, tell)),
  )
  return { followUp, lastMessage }
})
