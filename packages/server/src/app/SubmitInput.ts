/**
 * Submits what a client says, for both methods that do so: the response comes before every event that the input causes
 * (L2).
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

/** What is submitted, and what to do if a turn is running. */
export interface InputSubmission {
  readonly conversation: Conversation
  readonly op: Op
  readonly whileRunning: WhileRunning
  /** Id that the client chose; without one the conversation numbers the submission. */
  readonly submissionId: string | undefined
}

/** Submits the input and resolves when it was accepted. Holds the events of the conversation until the response was sent. */
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
