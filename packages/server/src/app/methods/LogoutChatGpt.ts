/** `logoutChatGpt`: logs out. All connections of the login are notified after the response (L2). */
import type { LogoutChatGpt } from "@colloquy/protocol/app/Account"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { cannotReadLogin, internal } from "../AppErrors.ts"
import { Auth } from "../ports/AuthPort.ts"
import { noticesKey } from "../subscriptions/ConnectionNotices.ts"

/** Handler of the method. */
export const logoutChatGpt: AppHandler<typeof LogoutChatGpt> = Effect.fnUntraced(function* (
  _,
  { connection, hold },
) {
  const auth = yield* Auth
  hold(noticesKey)
  yield* Effect.mapError(auth.logout, ({ message }) => internal(`logout failed: ${message}`))
  // A key in the environment remains: then the user is still logged in with it.
  const { method } = yield* Effect.mapError(auth.status({ refresh: false }), cannotReadLogin)
  const status = method === undefined ? {} : { authMethod: method }
  yield* connection.broadcast.authChanged(auth, status)
  return {}
})
