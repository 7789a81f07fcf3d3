/**
 * The answers that a stateless call brings to the questions with which an earlier one ended. An answer that cannot be read
 * is none: the question stays pending, and the call ends with it again (L7).
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Effect from "effect/Effect"
import type { Members, RequestContext } from "../../RequestContext.ts"
import { submitAnswer } from "../../../questions/QuestionAnswer.ts"
import { readAnswer } from "../ElicitationAnswer.ts"
import { type CallState, readCallState } from "./CallState.ts"

/** Submits the answers among `responses` to the questions that were asked. */
export const submitResponses = (
  conversation: Pick<Conversation, "submit">,
  asked: CallState["asked"],
  responses: Members,
): Effect.Effect<void> =>
  Effect.forEach(
    Object.entries(asked).filter(([key]) => memberOf(responses, key) !== undefined),
    ([key, question]) => {
      const read = readAnswer(question, responses[key])
      return read._tag === "Success"
        ? submitAnswer(conversation, read.success)
        : Effect.logWarning(`question of call ${question.id} is asked again: ${read.failure}`)
    },
    { discard: true },
  )

/** Submits the answers that the call brings. Does nothing for a first call. */
export const submitReturned = (
  conversation: Pick<Conversation, "submit">,
  { continuation }: RequestContext,
): Effect.Effect<void, JsonRpcError> =>
  continuation?.resumed === undefined
    ? Effect.void
    : Effect.flatMap(readCallState(continuation.resumed.state), ({ asked }) =>
        submitResponses(conversation, asked, continuation.resumed?.responses ?? {}),
      )
