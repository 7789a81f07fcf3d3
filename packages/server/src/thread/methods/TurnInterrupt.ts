/**
 * `turn/interrupt`: interrupts a turn, running or waiting for its start. Its items complete, and `turn/completed` follows.
 * Input that is in the queue is no turn yet.
 */
import { queueOf } from "@colloquy/core/decider/InputQueue"
import type { TurnInterrupt } from "@colloquy/protocol/thread/Turns"
import * as Effect from "effect/Effect"
import { invalid } from "../../app/AppErrors.ts"
import { find, stateOf, type ThreadHandler } from "../ThreadCall.ts"

/** Handler of the method. */
export const turnInterrupt: ThreadHandler<typeof TurnInterrupt> = Effect.fnUntraced(function* (
  { threadId, turnId },
  { hold },
) {
  const conversation = yield* find(threadId)
  const state = yield* stateOf(conversation)
  const { turn, waiting } = state
  if (queueOf(state).some(({ id }) => id === turnId)) {
    return yield* invalid(
      `turn ${turnId} is queued and has not started; \`thread/queue/delete\` removes it`,
    )
  }
  const isWaiting = waiting.some(({ id }) => id === turnId)
  // A client that does not know the id yet interrupts whatever runs.
  if (turnId === "" && turn === undefined) return {}
  if (turnId !== "" && turn?.id !== turnId && !isWaiting) {
    return yield* invalid(
      turn === undefined
        ? "no active turn to interrupt"
        : `expected active turn id ${turnId} but found ${turn.id}`,
    )
  }
  hold(conversation.id)
  yield* conversation.cancel(turnId === "" ? (turn?.id ?? "") : turnId)
  return {}
})
