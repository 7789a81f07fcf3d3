/** `initialize`: keeps what the client says about itself. Notifications to all connections reach it after the response (L2). */
import type { Initialize } from "@colloquy/protocol/app/Session"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { alreadyInitialized } from "../AppErrors.ts"
import { noticesKey } from "../subscriptions/ConnectionNotices.ts"

/** Handler of the method. */
export const initialize: AppHandler<typeof Initialize> = Effect.fnUntraced(function* (
  params,
  { connection, hold, peer },
) {
  if (!connection.initialize(params)) return yield* alreadyInitialized()
  hold(noticesKey)
  yield* connection.join(peer)
  return connection.userAgent()
})
