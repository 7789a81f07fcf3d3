/**
 * Delivers what a conversation does to the queue of a chat, until it is interrupted or the conversation has ended. The next
 * deliveries are taken when the chat has handled the last ones: a chat that is busy holds them up.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"

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
  queue: Queue.Enqueue<Delivered>,
): Effect.Effect<void> => {
  const { id } = conversation
  const hand = Effect.fnUntraced(function* (deliveries: ReadonlyArray<Delivery>) {
    const done = yield* Deferred.make<void>()
    const handled = () => void Deferred.doneUnsafe(done, Effect.void)
    yield* Queue.offer(queue, { _tag: "Delivered", of: id, deliveries, handled })
    yield* Deferred.await(done)
  })
  return conversation.attach({ ...from, answers: true }).pipe(
    Effect.flatMap((listener) => Effect.forever(Effect.flatMap(listener.take, hand))),
    Effect.catch((error) =>
      Effect.asVoid(Queue.offer(queue, { _tag: "Ended", of: id, reason: messageOf(error) })),
    ),
    Effect.scoped,
    Effect.asVoid,
  )
}
