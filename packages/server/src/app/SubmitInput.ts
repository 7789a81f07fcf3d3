/**
 * Submits user input, for both methods that do so. Keeps its part of L2: the response is sent before every event that
 * the input causes.
 */
import type { WhileRunning } from "@colloquy/core/decider/Decision"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { SendUserMessage } from "@colloquy/protocol/app/Messages"
import type { ResultOf } from "@colloquy/protocol/Method"
import type { Op } from "@colloquy/protocol/Op"
import type { Conversation } from "@colloquy/core/Conversation"
import * as Effect from "effect/Effect"
import type { AppCall } from "./AppCall.ts"
import { cannotSubmit } from "./AppErrors.ts"

/** The input to submit, and what to do if a turn is running. */
export interface InputSubmission {
  readonly conversation: Conversation
  readonly op: Op
  readonly whileRunning: WhileRunning
  /** Id that the client chose; if undefined, the conversation assigns one. */
  readonly submissionId: string | undefined
}

/**
 * Submits the input and resolves when it was accepted. Holds the conversation's events until the response was accepted.
 */
export const submitInput = (
  { conversation, op, submissionId, whileRunning }: InputSubmission,
  { hold }: Pick<AppCall, "hold">,
): Effect.Effect<ResultOf<typeof SendUserMessage>, JsonRpcError> =>
  Effect.suspend(() => {
    hold(conversation.id)
    return conversation
      .submit(op, { whileRunning, ...(submissionId === undefined ? {} : { id: submissionId }) })
      .pipe(
        Effect.map(({ disposition, id }) => ({ turnId: id, disposition })),
        Effect.mapError((error) => cannotSubmit(conversation.id, error)),
      )
  })
