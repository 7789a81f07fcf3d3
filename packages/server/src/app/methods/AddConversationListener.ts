/** `addConversationListener`: no event is sent before the response, and every event after it (L2, L4). */
import { present } from "@colloquy/protocol/app/Fields"
import type { AddConversationListener } from "@colloquy/protocol/app/Messages"
import * as Effect from "effect/Effect"
import { type AppHandler, find } from "../AppCall.ts"
import { cannotAttach } from "../AppErrors.ts"

/** Handler of the method. */
export const addConversationListener: AppHandler<typeof AddConversationListener> =
  Effect.fnUntraced(function* (params, { afterAnswer, connection, peer }) {
    const { after, experimentalRawEvents = false } = present(params)
    const conversation = yield* find(params.conversationId)
    const adding = connection.subscriptions.add({
      conversation,
      peer,
      raw: experimentalRawEvents,
      ...(after === undefined ? {} : { after }),
    })
    const { id } = yield* adding.pipe(
      Effect.tap(({ abandon, start }) => Effect.sync(() => afterAnswer(start, abandon))),
      Effect.mapError(cannotAttach),
      // A listener is started or abandoned with the response: an interruption in between would leak it.
      Effect.uninterruptible,
    )
    return { subscriptionId: id }
  })
