/** What both ways of saying something share: the answer comes before anything that it causes (§3.7). */
import type { WhileRunning } from "@colloquy/core/decider/Decision"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { SendUserMessage } from "@colloquy/protocol/app/Messages"
import type { ResultOf } from "@colloquy/protocol/Method"
import type { Op } from "@colloquy/protocol/Op"
import type { Conversation } from "@colloquy/core/Conversation"
import * as Effect from "effect/Effect"
import type { AppCall } from "../AppCall.ts"
import { cannotSubmit } from "../AppErrors.ts"

export interface InputSubmission {
  readonly conversation: Conversation
  readonly op: Op
  readonly whileRunning: WhileRunning
  readonly submissionId: string | undefined
}

export const submitInput = (
  { conversation, op, submissionId, whileRunning }: InputSubmission,
  { afterAnswer, connection }: AppCall,
): Effect.Effect<ResultOf<typeof SendUserMessage>, JsonRpcError> =>
  Effect.suspend(() => {
    const release = connection.holds.hold(conversation.id)
    afterAnswer(Effect.sync(release), release)
    return conversation
      .submit(op, { whileRunning, ...(submissionId === undefined ? {} : { id: submissionId }) })
      .pipe(
        Effect.map(({ disposition, id }) => ({ turnId: id, disposition })),
        Effect.mapError((error) => cannotSubmit(conversation.id, error)),
      )
  })
