/** `removeConversationListener` (§3.7): nothing of the subscription follows the answer. */
import type { RemoveConversationListener } from "@colloquy/protocol/app/Messages"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { subscriptionNotFound } from "../AppErrors.ts"

export const removeConversationListener: AppHandler<typeof RemoveConversationListener> = (
  { subscriptionId },
  { connection },
) =>
  Effect.flatMap(connection.subscriptions.remove(subscriptionId.toLowerCase()), (removed) =>
    removed ? Effect.succeed({}) : Effect.fail(subscriptionNotFound(subscriptionId)),
  )
