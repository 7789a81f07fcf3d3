/**
 * Delivers what a conversation does to the queue of a chat, until it is interrupted or the conversation has ended. The next
 * deliveries are taken when the chat has handled the last ones: a chat that is busy holds them up, and its queue, which also
 * has keys and signals that must not be lost, needs no bound of its own.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import * as Effect from "effect/Effect"

/** What a chat gets of its conversation. */
export type Delivered =
  /** Of the conversation with this id, which may be another one by now. */
  | {
      readonly _tag: "Delivered"
      readonly of: string
      readonly deliveries: ReadonlyArray<Delivery>
      /** Called once they were handled. */
      readonly handled: () => void
    }
  /** The conversation with this id delivers nothing more, for this reason. */
  | { readonly _tag: "Ended"; readonly of: string; readonly reason: string }

/** What an error says to a person. */
export const messageOf = (error: { readonly _tag: string; readonly message?: string }): string =>
  error.message === undefined || error.message === "" ? error._tag : error.message

/** See the header. */
export const deliver = (
  conversation: Conversation,
  from: { readonly from?: number },
  offer: (input: Delivered) => void,
): Effect.Effect<void> => {
  const { id } = conversation
  const hand = (deliveries: ReadonlyArray<Delivery>) =>
    Effect.callback<void>((resume) =>
      offer({ _tag: "Delivered", of: id, deliveries, handled: () => resume(Effect.void) }),
    )
  return conversation.attach({ ...from, answers: true }).pipe(
    Effect.flatMap((listener) => Effect.forever(Effect.flatMap(listener.take, hand))),
    Effect.catch((error) =>
      Effect.sync(() => offer({ _tag: "Ended", of: id, reason: messageOf(error) })),
    ),
    Effect.scoped,
    Effect.asVoid,
  )
}
