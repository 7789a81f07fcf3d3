/**
 * A conversation's open questions to a call that watches or waits and cannot ask: they end its round, and the next one
 * brings the answers. Questions of turns that other calls run are left to those.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { AttachError } from "@colloquy/core/ConversationErrors"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { submitAnswer } from "../../../questions/QuestionAnswer.ts"
import { readAnswer } from "../ElicitationAnswer.ts"
import type { InputRequired, Members } from "../../RequestContext.ts"
import { atHand, type ToolCaller } from "../../codex/TurnCall.ts"
import { readTurnState, type TurnState } from "./TurnState.ts"

/** Never returns; of a client that cannot answer it is asked nothing. */
export const untilAsked = Effect.fnUntraced(function* (
  conversation: Conversation,
  call: ToolCaller,
): Effect.fn.Return<never, InputRequired | AttachError | Cause.Done, Scope.Scope> {
  const { elicitations, requestId, peer } = call
  if (elicitations === undefined) return yield* Effect.never
  const listener = yield* conversation.attach({ answers: true })
  const questions = yield* elicitations.of({ conversation, requestId, peer })
  while (true) {
    const due = questions.round?.isDue() === true
    const deliveries = yield* due ? atHand(listener) : listener.take
    if (deliveries.length === 0 && questions.round !== undefined) {
      return yield* questions.round.suspend(0)
    }
    for (const delivery of deliveries) {
      if (delivery._tag === "Ask") yield* questions.put(delivery.event)
      else if (delivery._tag === "Event" && delivery.event.msg.type === "approval_resolved") {
        yield* questions.withdraw(delivery.event.msg.call_id)
      }
    }
  }
})

/** What the client brings; an answer that cannot be read is none, and the question is put again (L7). */
export const bring = (
  conversation: Pick<Conversation, "submit">,
  asked: TurnState["asked"],
  responses: Members,
): Effect.Effect<void> =>
  Effect.forEach(
    Object.entries(asked).filter(([key]) => memberOf(responses, key) !== undefined),
    ([key, question]) => {
      const read = readAnswer(question, responses[key])
      return read._tag === "Success"
        ? submitAnswer(conversation, read.success)
        : Effect.logWarning(`question of call ${question.id} is put again: ${read.failure}`)
    },
    { discard: true },
  )

/** The same, of a call that may come for the first time. */
export const bringAll = (
  conversation: Pick<Conversation, "submit">,
  { resumed }: ToolCaller,
): Effect.Effect<void, JsonRpcError> =>
  resumed === undefined
    ? Effect.void
    : Effect.flatMap(readTurnState(resumed.state), ({ asked }) =>
        bring(conversation, asked, resumed.responses),
      )
