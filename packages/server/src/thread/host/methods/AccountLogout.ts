/** `account/logout`: deletes the credentials. All connections are notified after the response (L2). */
import { type AccountLogout, AccountUpdated } from "@colloquy/protocol/thread/Accounts"
import * as Effect from "effect/Effect"
import { cannotReadLogin, internal } from "../../../app/AppErrors.ts"
import { Auth } from "../../../app/ports/AuthPort.ts"
import { noticesKey } from "../../../app/subscriptions/ConnectionNotices.ts"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const accountLogout: HostHandler<typeof AccountLogout> = Effect.fnUntraced(function* (
  _,
  { connection, hold, notifyAll },
) {
  const auth = yield* Auth
  hold(noticesKey)
  yield* Effect.mapError(auth.logout, ({ message }) => internal(`logout failed: ${message}`))
  // A key in the environment remains: then the user is still logged in with it.
  const { method } = yield* Effect.mapError(auth.status({ refresh: false }), cannotReadLogin)
  notifyAll(AccountUpdated, { authMode: method ?? null, planType: null })
  yield* connection.broadcast.authChanged(auth, method === undefined ? {} : { authMethod: method })
  return {}
})
