/**
 * The turn loop (§6.3): ask the model, show what it says, run the tools it calls, ask again until it calls none.
 *
 * It tells and asks its conversation through a `TurnPort` and holds no state of it. Each finished item is recorded
 * when it arrives, so a request that is repeated after its stream failed sees what was done already.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import type { ResponseItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ApprovalRequest, Verdict } from "./Approval.ts"
import { backoff } from "./Backoff.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import { isToolCall, outputFor } from "./History.ts"
import { instructionsOf } from "./Instructions.ts"
import { ModelClient, type ModelError, type ModelEvent, type ModelRequest } from "./ModelClient.ts"
import { type ToolCall, ToolRuntime } from "./ToolRuntime.ts"
import { answerOf, deltaEvents, itemEvents, streamError, tokenCount } from "./TurnEvents.ts"

/** What the next request is made of. */
export interface Step {
  readonly history: ReadonlyArray<ResponseItem>
  /** Number of the last event the history is folded from. */
  readonly seq: number
  readonly usage: TokenUsage | undefined
}

export interface TurnPort {
  /** In order; returns when the conversation has them in its inbox. */
  readonly emit: (messages: ReadonlyArray<EventMsg>) => Effect.Effect<void>
  /** Puts a tool's question and waits for the verdict; interrupted, withdraws it. */
  readonly ask: (request: ApprovalRequest) => Effect.Effect<Verdict>
  /** The next step, or undefined when the turn is over; the conversation has then told so. */
  readonly advance: (progress: {
    readonly sawSeq: number
    readonly followUp: boolean
    readonly lastMessage: string | null
  }) => Effect.Effect<Step | undefined>
}

export interface TurnOptions {
  readonly id: SubmissionId
  readonly conversationId: ConversationId
  readonly settings: ConversationSettings
}

/** What one response of the model left behind. */
interface Response {
  readonly followUp: boolean
  readonly lastMessage: string | null
}

/** Runs the turn to its end; fails with what the `error` event says. Interrupting it stops model and tools. */
export const run = Effect.fnUntraced(function* (
  turn: TurnOptions,
  port: TurnPort,
): Effect.fn.Return<void, ModelError, ModelClient | ToolRuntime> {
  const { streamMaxRetries } = turn.settings.provider
  let progress = { sawSeq: -1, followUp: true, lastMessage: null as string | null }
  let attempt = 0
  while (true) {
    const step = yield* port.advance(progress)
    if (step === undefined) return
    const outcome = yield* Effect.result(respond(turn, port, step))
    if (outcome._tag === "Success") {
      attempt = 0
      progress = { sawSeq: step.seq, ...outcome.success }
      continue
    }
    const error = outcome.failure
    attempt++
    if (!error.retryable || attempt > streamMaxRetries) return yield* error
    const delay =
      error.retryAfterMs === undefined
        ? yield* backoff(attempt)
        : Duration.millis(error.retryAfterMs)
    yield* port.emit([
      streamError(error.message, attempt, streamMaxRetries, Duration.toMillis(delay)),
    ])
    yield* Effect.sleep(delay)
    progress = { sawSeq: step.seq, followUp: true, lastMessage: null }
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
    ...(settings.effort === undefined ? {} : { effort: settings.effort }),
    summary: settings.summary,
    ...(settings.verbosity === undefined ? {} : { verbosity: settings.verbosity }),
  }
}

const respond = Effect.fnUntraced(function* (turn: TurnOptions, port: TurnPort, step: Step) {
  const models = yield* ModelClient
  const tools = yield* ToolRuntime
  let followUp = false
  let lastMessage: string | null = null
  const handle = Effect.fnUntraced(function* (events: ReadonlyArray<ModelEvent>) {
    let told: Array<EventMsg> = []
    for (const event of events) {
      if (event._tag === "Completed") {
        told.push(tokenCount(step.usage, event.usage, turn.settings.contextWindow))
      } else if (event._tag === "ItemDone") {
        told.push(...itemEvents(event.item, turn.settings))
        lastMessage = answerOf(event.item) ?? lastMessage
        if (isToolCall(event.item)) {
          followUp = true
          yield* port.emit(told)
          told = [yield* runTool(tools, event.item, turn, port)]
        }
      } else {
        told.push(...deltaEvents(event, turn.settings))
      }
    }
    if (told.length > 0) yield* port.emit(told)
  })
  yield* models
    .stream(requestOf(turn, step, tools.specs(turn.settings)))
    .pipe(Stream.runForEachArray(handle))
  return { followUp, lastMessage } satisfies Response
})

/** The record of the call's output. A tool that dies is a fault of ours: the model is told, the turn goes on. */
const runTool = (
  tools: ToolRuntime["Service"],
  call: ToolCall,
  turn: TurnOptions,
  port: TurnPort,
): Effect.Effect<EventMsg> =>
  Effect.suspend(() =>
    tools.run(call, {
      conversationId: turn.conversationId,
      turnId: turn.id,
      settings: turn.settings,
      emit: (msg) => port.emit([msg]),
      approve: port.ask,
    }),
  ).pipe(
    Effect.catchDefect((defect) =>
      Effect.as(
        Effect.logError("a tool died", defect),
        "execution error: the tool failed with an internal error",
      ),
    ),
    Effect.map((output) => ({ type: "raw_response_item", item: outputFor(call, output) })),
  )
