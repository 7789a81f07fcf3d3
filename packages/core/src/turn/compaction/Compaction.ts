/**
 * Summarises the history of a conversation: in a turn that does only this (`compact`), or in the middle of a turn, with the
 * event id `auto-compact-N`. The summary is recorded at the end, in one batch; `History` folds it. A failure records
 * nothing.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import type { ModelClient, ModelError } from "../../ModelClient.ts"
import type { Step, TurnOptions, TurnPort } from "../TurnPort.ts"
import { tokenCount } from "../ModelEvents.ts"
import { unansweredFrom } from "../../log/Compacted.ts"
import { compactionNotice } from "../../log/Item.ts"
import { type Summary, summarise } from "./Summary.ts"

const recorded = (
  { settings }: TurnOptions,
  step: Step,
  { text, usage }: Summary,
  keepsInput: boolean,
): ReadonlyArray<EventMsg> => [
  tokenCount(step.usage, usage, settings.contextWindow),
  { type: "compacted", message: text, ...(keepsInput ? { keeps_input: true } : {}) },
  { type: "agent_message", message: compactionNotice },
]

/** True when the model has answered since the beginning or the last summary: otherwise there is nothing to summarise. */
export const hasAnswers = ({ history }: Step): boolean => unansweredFrom(history) > 0

/** Runs a turn that only summarises the history. */
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

/** Summarises before the next request of a turn. User messages since the last answer are not summarised but kept. */
export const inline = Effect.fnUntraced(function* (
  turn: TurnOptions,
  port: TurnPort,
  step: Step,
): Effect.fn.Return<void, ModelError, ModelClient> {
  const answered = step.history.slice(0, unansweredFrom(step.history))
  const summary = yield* summarise(turn, answered, port.emitCompaction)
  yield* port.emitCompaction(recorded(turn, step, summary, true))
})
