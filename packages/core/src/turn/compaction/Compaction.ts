/**
 * Summarises the history of a conversation: as a task of its own (`compact`), or in the middle of a turn, where its events
 * carry an id of their own (§6.9). What is recorded at its end, all at once, is the summary; `History` folds it.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import type { ModelClient, ModelError } from "../../ModelClient.ts"
import type { Step, TurnOptions, TurnPort } from "../TurnPort.ts"
import { tokenCount } from "../ModelEvents.ts"
import { unansweredFrom } from "../../log/Compacted.ts"
import { type Summary, summarise } from "./Summary.ts"

const recorded = (
  { settings }: TurnOptions,
  step: Step,
  { text, usage }: Summary,
  keepsInput: boolean,
): ReadonlyArray<EventMsg> => [
  tokenCount(step.usage, usage, settings.contextWindow),
  { type: "compacted", message: text, ...(keepsInput ? { keeps_input: true } : {}) },
  { type: "agent_message", message: "Compact task completed" },
]

/** True when the model has answered something since the beginning or the last summary: else a summary says nothing. */
export const hasAnswers = ({ history }: Step): boolean => unansweredFrom(history) > 0

/** The whole of a turn that was started to do this. */
export const run = Effect.fnUntraced(function* (
  turn: TurnOptions,
  port: TurnPort,
): Effect.fn.Return<void, ModelError, ModelClient> {
  const step = yield* port.advance({ sawSeq: -1, followUp: true, lastMessage: null })
  if (step === undefined) return
  const summary = yield* summarise(turn, step.history, port.emit)
  yield* port.emit(recorded(turn, step, summary, false))
  yield* port.advance({ sawSeq: step.seq, followUp: false, lastMessage: null })
})

/** Before the next request of a turn. What was said since the last answer is not summarised: it stays as it is. */
export const inline = Effect.fnUntraced(function* (
  turn: TurnOptions,
  port: TurnPort,
  step: Step,
): Effect.fn.Return<void, ModelError, ModelClient> {
  const answered = step.history.slice(0, unansweredFrom(step.history))
  const summary = yield* summarise(turn, answered, port.emitCompaction)
  yield* port.emitCompaction(recorded(turn, step, summary, true))
})
