/** `addConversationListener` (§3.7): nothing is told before the answer, and then every event (L2, L4). */
import { present } from "@colloquy/protocol/app/Fields"
import type { AddConversationListener } from "@colloquy/protocol/app/Messages"
import * as Effect from "effect/Effect"
import { type AppHandler, find } from "../AppCall.ts"
import { cannotAttach } from "../AppErrors.ts"

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
      Effect.tap(({ abandon, begin }) => Effect.sync(() => afterAnswer(begin, abandon))),
      Effect.mapError(cannotAttach),
      // What listens is begun or abandoned with the answer: nothing may cut in between.
      Effect.uninterruptible,
    )
    return { subscriptionId: id }
  })
