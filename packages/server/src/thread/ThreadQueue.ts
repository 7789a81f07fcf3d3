/** The queue of input of a thread, as this dialect shows it. */
import type { Conversation } from "@colloquy/core/Conversation"
import { queueOf } from "@colloquy/core/decider/InputQueue"
import type { QueuedSubmission as CoreSubmission } from "@colloquy/core/decider/State"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Op } from "@colloquy/protocol/Op"
import type { QueuedSubmission } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { inputOfItem } from "./items/InputParts.ts"
import { stateOf } from "./ThreadCall.ts"
import { cannotSubmit } from "./ThreadErrors.ts"

/** Queued input in the spelling of this dialect. */
export const queuedSubmission = ({
  clientId,
  id,
  items,
}: Pick<CoreSubmission, "id" | "items" | "clientId">): QueuedSubmission => ({
  id,
  input: items.map(inputOfItem),
  clientUserMessageId: clientId ?? null,
  responsesapiClientMetadata: null,
})

/** The queued input of a thread, in its order. */
export const queuedIn = (
  conversation: Conversation,
): Effect.Effect<ReadonlyArray<QueuedSubmission>, JsonRpcError> =>
  Effect.map(stateOf(conversation), (state) => queueOf(state).map(queuedSubmission))

/** Changes the queue of a thread. */
export const changeQueue = (conversation: Conversation, op: Op) =>
  Effect.mapError(conversation.submit(op), (error) => cannotSubmit(conversation.id, error))
