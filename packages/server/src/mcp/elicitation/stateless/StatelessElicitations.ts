/**
 * The questions of a tool call in the revision where the server sends no requests (era `stateless`): they end the call
 * with the result `input_required`, and the client calls again with the answers. Meanwhile the turn continues, and waits
 * for each answer until its deadline.
 */
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AnsweredCalls } from "../../AnsweredCalls.ts"
import { type InputRequest, InputRequired } from "../../RequestContext.ts"
import { type Question, type QuestionRef, questionId, refOf } from "../../../questions/Question.ts"
import * as QuestionBroker from "../../../questions/QuestionBroker.ts"
import { elicitParams } from "../ElicitationParams.ts"
import type { CallElicitations, Elicitations, ElicitingCall } from "../Elicitations.ts"
import type { DetachedTurns } from "./DetachedTurns.ts"
import type { CallState } from "./CallState.ts"

/** Key of the question in the result. Unique: `seq` numbers the events of the conversation. */
const keyOf = ({ seq }: Question) => `question-${seq}`

/**
 * Presents a question by keeping it among the pending ones of the call until it is withdrawn. It is never answered here:
 * the client's next call brings the answers (`ReturnedAnswers`).
 */
const collectIn =
  (pending: Map<string, Question>): QuestionBroker.Present =>
  (question) =>
    Effect.acquireUseRelease(
      Effect.sync(() => pending.set(questionId(question), question)),
      () => Effect.never,
      () => Effect.sync(() => pending.delete(questionId(question))),
    )

/** The result that ends the call with the pending questions, and the state that its client brings back. */
const inputRequired = (
  { conversation, requestId }: ElicitingCall,
  pending: Iterable<Question>,
  progress: Pick<CallState, "turn" | "next">,
): InputRequired => {
  const inputRequests: Record<string, InputRequest> = {}
  const asked: Record<string, QuestionRef> = {}
  for (const question of pending) {
    const params = elicitParams(question, { requestId, threadId: conversation.id })
    inputRequests[keyOf(question)] = { method: Elicit._tag, params: { ...params } }
    asked[keyOf(question)] = refOf(question)
  }
  const state: CallState = { conversation: conversation.id, ...progress, asked }
  return new InputRequired({ inputRequests, state })
}

/** Those of one connection. `onCancel` registers what cancelling an answered call does. */
export const make = (
  detached: DetachedTurns,
  { onCancel }: Pick<AnsweredCalls, "onCancel">,
): Elicitations => {
  const of = Effect.fnUntraced(function* (
    call: ElicitingCall,
  ): Effect.fn.Return<CallElicitations, never, Scope.Scope> {
    const { conversation, requestId } = call
    const pending = new Map<string, Question>()
    // One broker for each call: every call names all questions that are pending when it ends.
    const broker = yield* QuestionBroker.make({ owned: detached.owned })
    const questions = yield* broker.follow({ conversation, present: collectIn(pending) })
    let turn: string | undefined

    const end = (next: number) =>
      Effect.gen(function* () {
        const required = inputRequired(call, pending.values(), { turn: turn ?? "", next })
        if (turn !== undefined) {
          // The client may cancel the call while the result is on its way: then no answer will come.
          onCancel(requestId, conversation.cancel(turn))
          yield* detached.park(conversation, turn, next)
        }
        return yield* required
      })

    return {
      ...questions,
      ownTurn: (turnId) => {
        turn = turnId
        questions.ownTurn(turnId)
      },
      inResult: { isDue: () => pending.size > 0, end },
    }
  })
  // A call names only the questions it has collected itself, so there is nothing to share.
  return { of, share: of }
}
