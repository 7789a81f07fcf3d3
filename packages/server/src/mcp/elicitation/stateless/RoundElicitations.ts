/**
 * The questions of one call that cannot ask: they end its round, and the client brings the answers with the next. The
 * turn goes on meanwhile, and waits for each answer until its deadline.
 */
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import * as Effect from "effect/Effect"
import { elicitParams, isQuestion, type Question, questionId } from "../ElicitationParams.ts"
import type { Elicitations } from "../Elicitations.ts"
import { type QuestionRef, refOf } from "../QuestionAnswers.ts"
import { type InputRequest, InputRequired } from "../../RequestContext.ts"
import type { AnsweredCalls } from "../../conversation/AnsweredCalls.ts"
import type { DetachedTurns } from "./DetachedTurns.ts"
import type { CallState } from "./CallState.ts"

/** Of the log of its conversation, so no two questions share one. */
const keyOf = ({ seq }: Question) => `question-${seq}`

export const make = (
  parked: DetachedTurns,
  { onCancel }: Pick<AnsweredCalls, "onCancel">,
): Elicitations => ({
  of: ({ conversation, requestId }) =>
    Effect.gen(function* () {
      const open = new Map<string, Question>()
      let turn: string | undefined
      let leave = () => {}
      yield* Effect.addFinalizer(() => Effect.sync(() => leave()))

      const suspend = (next: number) =>
        Effect.gen(function* () {
          const inputRequests: Record<string, InputRequest> = {}
          const asked: Record<string, QuestionRef> = {}
          for (const question of open.values()) {
            const params = elicitParams(question, { requestId, threadId: conversation.id })
            inputRequests[keyOf(question)] = { method: Elicit._tag, params: { ...params } }
            asked[keyOf(question)] = refOf(question)
          }
          const state: CallState = { conversation: conversation.id, turn: turn ?? "", next, asked }
          if (turn !== undefined) {
            // The client may take the call back while the question is on its way, and then nobody answers it.
            onCancel(requestId, conversation.cancel(turn))
            yield* parked.park(conversation, turn, next)
          }
          return yield* new InputRequired({ inputRequests, state })
        })

      return {
        runs: (turnId) => {
          turn = turnId
          leave = parked.run(conversation.id, turnId)
        },
        put: (event) =>
          Effect.sync(() => {
            // That of another call's turn is that call's to put.
            if (!isQuestion(event)) return
            if (event.id !== turn && parked.isRun(conversation.id, event.id)) return
            open.set(questionId(event), event)
          }),
        withdraw: (callId) => Effect.sync(() => open.delete(callId)),
        round: { isDue: () => open.size > 0, suspend },
      }
    }),
})
