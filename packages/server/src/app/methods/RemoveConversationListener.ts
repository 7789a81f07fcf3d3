/** `removeConversationListener`: nothing of the subscription is sent after the response. */
import type { RemoveConversationListener } from "@colloquy/protocol/app/Messages"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { subscriptionNotFound } from "../AppErrors.ts"

/** Handler of the method. */
export const removeConversationListener: AppHandler<typeof RemoveConversationListener> = (
  { subscriptionId },
  { connection },
) =>
  Effect.flatMap(connection.subscriptions.remove(subscriptionId.toLowerCase()), (removed) =>
    removed ? Effect.succeed({}) : Effect.fail(subscriptionNotFound(subscriptionId)),
  )
